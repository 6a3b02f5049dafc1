#pragma once
// The few rules of HTTP about characters and words.

#include <algorithm>
#include <string>
#include <string_view>

namespace tenon::http {

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

/// Equal but for the case of ASCII letters.
inline bool same_word(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

/// Without spaces and tabs at both ends.
inline std::string_view trim(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// What names of fields, methods and encodings are made of.
constexpr bool is_token(char c) noexcept {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}
inline bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return is_token(c); });
}

/// No control character but the tab.
constexpr bool is_field_text(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || c == '\t';
}

/// The next element of a comma-separated list, which is taken from `rest`. Empty elements are skipped; an empty result:
/// there is none left.
inline std::string_view next_element(std::string_view& rest) noexcept {
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view element = trim(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (!element.empty()) return element;
  }
  return {};
}

}  // namespace tenon::http
