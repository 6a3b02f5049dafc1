#include "command.hpp"

#include <cstdio>

namespace tenon::cli {

int complain(std::string_view who, const Error& error) {
  if (error.code() == Errc::config) {
    std::fprintf(stderr, "%s\n", error.text().c_str());
    return exit_usage;
  }
  std::fprintf(stderr, "tenon %.*s: %.*s: %s\n", static_cast<int>(who.size()), who.data(),
               static_cast<int>(to_string(error.code()).size()), to_string(error.code()).data(), error.text().c_str());
  return exit_failed;
}

int misused(std::string_view who, const std::string& text) {
  std::fprintf(stderr, "tenon %.*s: %s\n", static_cast<int>(who.size()), who.data(), text.c_str());
  return exit_usage;
}

}  // namespace tenon::cli
