#pragma once
#include <cstddef>
#include <string_view>

namespace tenon::center {

/// Compares in a time that depends on the length of `given` only, so that nobody can guess a secret piece by piece.
inline bool same_secret(std::string_view given, std::string_view secret) noexcept {
  volatile unsigned char different = given.size() == secret.size() ? 0 : 1;
  for (std::size_t at = 0; at < given.size(); ++at) {
    const char expected = secret.empty() ? '\0' : secret[at % secret.size()];
    different = static_cast<unsigned char>(different | (given[at] ^ expected));
  }
  return different == 0;
}

}  // namespace tenon::center
