#include "standing.hpp"

namespace tenon::cluster {

std::string Standing::why_empty() const {
  if (dial_error)
    return "none of the " + std::to_string(known) + " known can be dialled, for example: " + dial_error.text();
  std::string text = "no instance is known: ";
  bool all_named_none = true;
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string& name = parts.registries[index].name;
    const Word& word = words[index];
    text += (index == 0 ? "" : ", ") + (name.empty() ? std::string("the registry") : "registry " + name);
    all_named_none = all_named_none && word.spoken && !word.error;
    if (word.error)
      text += " cannot say who is there (" + word.error.text() + ")";
    else
      text += word.spoken ? " names none" : " has not answered yet";
  }
  if (all_named_none) text += "; is there a server that announces this service, group and version?";
  return text;
}

}  // namespace tenon::cluster
