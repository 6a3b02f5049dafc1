#include "standing.hpp"

namespace tenon::cluster {

std::string Standing::why_empty() const {
  std::string text;
  if (!answered)
    text = "the registry has not answered yet";
  else if (dial_error)
    text = "none of the " + std::to_string(known) + " known can be dialled, for example: " + dial_error.text();
  else
    text = "0 known; is there a server that announces this service, group and version?";
  if (registry_error) text += " (" + registry_error.text() + ")";
  return text;
}

}  // namespace tenon::cluster
