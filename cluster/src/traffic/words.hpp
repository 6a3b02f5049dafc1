#pragma once
// Texts people wrote.

#include <string>
#include <string_view>

namespace tenon::cluster::traffic {

inline bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Without white space at its ends.
inline std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// For messages: in quotes, and not longer than can be read.
inline std::string quoted(std::string_view text) {
  constexpr std::size_t shown = 80;
  return "\"" + std::string(text.substr(0, shown)) + (text.size() > shown ? "…\"" : "\"");
}

}  // namespace tenon::cluster::traffic
