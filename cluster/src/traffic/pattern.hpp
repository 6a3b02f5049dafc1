#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/result.hpp"

namespace tenon::cluster::traffic {

/// Which services a command is for: a boolean expression over names, as Motan in Java reads it. `!` binds closer than
/// `&`, that closer than `|`; parentheses; white space between them. A name is letters, digits, `_ $ . *`; one with an
/// asterisk means every name that begins with what stands before the first one ("com.*.Foo" is "com.*"), any other
/// means itself.
/// Threads: const and concurrent.
class Pattern {
 public:
  static constexpr std::size_t max_length = 4096;  ///< bytes
  static constexpr int max_depth = 64;             ///< nested parentheses

  /// Matches nothing, as does an empty text.
  Pattern() = default;
  /// Takes time and memory in proportion to the text. Fails with: malformed, too_large (naming the place).
  static Result<Pattern> parse(std::string_view text);
  /// Looks at each name of the expression once; no recursion, no backtracking.
  bool matches(std::string_view service) const noexcept;

 private:
  friend class PatternParser;
  enum class Does : std::uint8_t { equals, begins, negate, both, either };
  struct Step {
    Does does;
    std::string name;
  };
  std::vector<Step> steps_;  // operands before their operator
};

}  // namespace tenon::cluster::traffic
