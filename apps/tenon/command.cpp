#include "command.hpp"

#include <cstdio>

namespace tenon::cli {

int complain(std::string_view who, const Error& error) {
  if (error.code() == Errc::config) {
    std::fprintf(stderr, "%s\n", error.text().c_str());
    return exit_usage;
  }
  std::string code(to_string(error.code()));
  if (!error.domain().empty()) code += " (" + error.domain() + ' ' + std::to_string(error.foreign_code()) + ')';
  std::fprintf(stderr, "tenon %.*s: %s: %s\n", static_cast<int>(who.size()), who.data(), code.c_str(),
               error.text().c_str());
  return exit_failed;
}

int misused(std::string_view who, const std::string& text) {
  std::fprintf(stderr, "tenon %.*s: %s\n", static_cast<int>(who.size()), who.data(), text.c_str());
  return exit_usage;
}

}  // namespace tenon::cli
