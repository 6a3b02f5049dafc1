#include "traffic/pattern.hpp"

#include <array>
#include <utility>

#include "traffic/words.hpp"

namespace tenon::cluster::traffic {

namespace {

bool is_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '.' || c == '*';
}

}  // namespace

/// either := both ('|' both)* ; both := single ('&' single)* ; single := '!'* (name | '(' either ')')
class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(text) {}

  Result<Pattern> run() {
    skip_space();
    if (at_ == text_.size()) return Pattern();
    if (!either(0)) return fail();
    if (at_ != text_.size()) return expected("'&', '|' or the end"), fail();
    return std::move(pattern_);
  }

 private:
  using Does = Pattern::Does;

  bool either(int depth) {
    if (!both(depth)) return false;
    while (take('|')) {
      if (!both(depth)) return false;
      pattern_.steps_.push_back({Does::either, {}});
    }
    return true;
  }
  bool both(int depth) {
    if (!single(depth)) return false;
    while (take('&')) {
      if (!single(depth)) return false;
      pattern_.steps_.push_back({Does::both, {}});
    }
    return true;
  }
  bool single(int depth) {
    bool negated = false;
    while (take('!')) negated = !negated;
    if (take('(')) {
      if (depth == Pattern::max_depth) {
        code_ = Errc::too_large;
        reason_ = "more than " + std::to_string(Pattern::max_depth) + " parentheses are nested";
        return false;
      }
      if (!either(depth + 1)) return false;
      if (!take(')')) return expected("'&', '|' or ')'");
    } else if (!name()) {
      return false;
    }
    if (negated) pattern_.steps_.push_back({Does::negate, {}});
    return true;
  }
  bool name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == begin) return expected("a name, '!' or '('");
    const std::string_view name = text_.substr(begin, at_ - begin);
    const std::size_t asterisk = name.find('*');
    pattern_.steps_.push_back(
        {asterisk == name.npos ? Does::equals : Does::begins, std::string(name.substr(0, asterisk))});
    skip_space();
    return true;
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_space();
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool expected(std::string what) {
    reason_ = "at " + std::to_string(at_) + " " + std::move(what) + " is expected, not " +
              (at_ == text_.size() ? "the end" : "'" + std::string(1, text_[at_]) + "'");
    return false;
  }
  Error fail() { return Error(code_, "the pattern cannot be read: " + reason_, Delivery::not_run); }

  const std::string_view text_;
  std::size_t at_ = 0;
  Pattern pattern_;
  Errc code_ = Errc::malformed;
  std::string reason_;
};

Result<Pattern> Pattern::parse(std::string_view text) {
  if (text.size() > max_length)
    return Error(Errc::too_large,
                 "the pattern has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(max_length),
                 Delivery::not_run);
  return PatternParser(text).run();
}

bool Pattern::matches(std::string_view service) const noexcept {
  // A level of parentheses leaves two values waiting at most, one at its '|' and one at its '&'.
  std::array<bool, 2 * (max_depth + 1) + 1> values{};
  std::size_t top = 0;
  for (const Step& step : steps_) {
    switch (step.does) {
      case Does::equals: values[top++] = service == step.name; break;
      case Does::begins: values[top++] = service.starts_with(step.name); break;
      case Does::negate: values[top - 1] = !values[top - 1]; break;
      case Does::both:
        --top;
        values[top - 1] = values[top - 1] && values[top];
        break;
      case Does::either:
        --top;
        values[top - 1] = values[top - 1] || values[top];
        break;
    }
  }
  return top == 1 && values[0];
}

}  // namespace tenon::cluster::traffic
