#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

#include "traffic/pattern.hpp"

namespace tenon::cluster::traffic {
namespace {

struct Case {
  const char* pattern;
  const char* matches;  // names, with a space between
  const char* others;
};

const Case cases[] = {
    {"com.weibo.Foo", "com.weibo.Foo", "com.weibo.FooBar com.weibo com.weibo.foo"},
    {"com.weibo.Foo*", "com.weibo.Foo com.weibo.FooBar com.weibo.Foo.Bar", "com.weibo.Fo com.Foo"},
    {"*", "a com.x.Y", ""},
    {"com.*.Foo", "com.a.Foo com.a.Bar com.", "co org.a.Foo"},  // what stands behind an asterisk does not count
    {"", "", "a com.x.Y"},
    {"  \t ", "", "a"},
    {"!a", "b aa", "a"},
    {"!!a", "a", "b"},
    {"! ! !a", "b", "a"},
    {"a|b", "a b", "c"},
    {"a*&b*", "", "a b ab"},
    {"a*&!ab", "a ac abc", "ab b"},
    {"a | b* & !bc", "a b bcd", "bc c"},  // ! before & before |
    {"(a | b*) & !bc", "a b bcd", "bc c"},
    {"(a|b)&!(a|c)", "b", "a c d"},
    {"!a&!b|c", "c d", "a b"},
    {"!(a&!b|c)", "b d", "a c"},
    {"((((a))))", "a", "b"},
    {" com.x.* & ! ( com.x.Foo | com.x.Bar ) ", "com.x.Baz", "com.x.Foo com.x.Bar com.y.Baz"},
    {"$_9.A", "$_9.A", "$_9XA"},
};

TEST(TrafficPattern, MatchesAsDocumented) {
  for (const Case& each : cases) {
    const auto pattern = Pattern::parse(each.pattern);
    ASSERT_TRUE(pattern.ok()) << each.pattern << ": " << pattern.error().text();
    for (const auto& [names, wanted] : {std::pair(std::string(each.matches), true), {std::string(each.others), false}})
      for (std::size_t at = 0, end; at < names.size(); at = end + 1) {
        end = std::min(names.find(' ', at), names.size());
        EXPECT_EQ(pattern->matches(names.substr(at, end - at)), wanted)
            << each.pattern << " and " << names.substr(at, end - at);
      }
  }
}

TEST(TrafficPattern, WhatIsMalformedIsRefusedWithThePlace) {
  for (const char* text : {"a b", "a&", "&a", "a||b", "|", "!", "(", ")", "()", "(a", "a)", "a-b", "a/b", "a,b", "a^b",
                           "a & (b | ) ", "a!b", "\x80"}) {
    const auto pattern = Pattern::parse(text);
    ASSERT_FALSE(pattern.ok()) << text;
    EXPECT_EQ(pattern.error().code(), Errc::malformed) << text;
    EXPECT_NE(pattern.error().text().find("at "), std::string::npos) << pattern.error().text();
  }
}

TEST(TrafficPattern, DepthAndLengthAreBounded) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '(') + "a" + std::string(depth, ')'); };
  EXPECT_TRUE(Pattern::parse(nested(64)).ok());
  EXPECT_EQ(Pattern::parse(nested(65)).error().code(), Errc::too_large);
  EXPECT_EQ(Pattern::parse(std::string(4096, '(')).error().code(), Errc::too_large);
  EXPECT_EQ(Pattern::parse(nested(10000)).error().code(), Errc::too_large);
  EXPECT_EQ(Pattern::parse(std::string(4097, 'a')).error().code(), Errc::too_large);
  EXPECT_TRUE(Pattern::parse(std::string(4096, 'a')).ok());
  EXPECT_TRUE(Pattern::parse(std::string(4095, '!') + "a")->matches("b"));
  // As many values waiting as the depth allows.
  std::string deep = "z";
  for (int i = 0; i < 64; ++i) deep = "x|y&(" + deep + ")";
  EXPECT_TRUE(Pattern::parse(deep)->matches("x"));
  EXPECT_FALSE(Pattern::parse(deep)->matches("z"));
}

/// The same language, read another way: at every step the whole text is split at its weakest operator.
class SlowMatcher {
 public:
  explicit SlowMatcher(std::string_view service) : service_(service) {}
  /// Nothing: malformed.
  std::optional<bool> run(std::string_view text) const {
    text = strip(text);
    for (const char op : {'|', '&'}) {
      int depth = 0;
      for (std::size_t i = text.size(); i-- > 0;) {
        depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
        if (depth < 0) return std::nullopt;
        if (depth != 0 || text[i] != op) continue;
        const auto left = run(text.substr(0, i));
        const auto right = run(text.substr(i + 1));
        if (!left || !right) return std::nullopt;
        return op == '|' ? *left || *right : *left && *right;
      }
      if (depth != 0) return std::nullopt;
    }
    if (text.empty()) return std::nullopt;
    if (text.front() == '!') {
      const auto value = run(text.substr(1));
      return value ? std::optional(!*value) : std::nullopt;
    }
    if (text.front() == '(' && text.back() == ')') return run(text.substr(1, text.size() - 2));
    for (const char c : text)
      if (std::string_view("abcdefgh.*").find(c) == std::string_view::npos) return std::nullopt;
    const std::size_t asterisk = text.find('*');
    return asterisk == text.npos ? text == service_ : service_.substr(0, asterisk) == text.substr(0, asterisk);
  }

 private:
  static std::string_view strip(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
  }
  const std::string_view service_;
};

class Writer {
 public:
  explicit Writer(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }
  std::string expression(int depth) {
    const std::string space(below(4) == 0 ? 1 : 0, ' ');
    if (depth == 0 || below(4) == 0) return space + name() + space;
    switch (below(4)) {
      case 0: return "!" + expression(0);
      case 1: return "(" + expression(depth - 1) + ")" + space;
      case 2: return expression(depth - 1) + "&" + expression(depth - 1);
      default: return expression(depth - 1) + space + "|" + expression(depth - 1);
    }
  }
  std::string name() {
    static const char* const names[] = {"a", "b", "ab", "a.b", "a*", "ab*", "*", "b.*", "a.b*c"};
    return names[below(9)];
  }
  std::string service() {
    static const char* const services[] = {"a", "b", "ab", "a.b", "b.a", "abc", "c"};
    return services[below(7)];
  }
  /// Here and there a character is missing or another one.
  std::string damaged(std::string text) {
    for (std::size_t i = below(3); i > 0 && !text.empty(); --i) {
      if (below(2) == 0)
        text.erase(below(text.size()), 1);
      else
        text[below(text.size())] = "!&|()a* -"[below(9)];
    }
    return text;
  }

 private:
  std::mt19937 random_;
};

TEST(TrafficPattern, AgreesWithASlowMatcher) {
  Writer writer(7);
  int malformed = 0;
  int matched = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = writer.damaged(writer.expression(5));
    if (text.find_first_not_of(' ') == std::string::npos) continue;
    const std::string service = writer.service();
    const auto wanted = SlowMatcher(service).run(text);
    const auto pattern = Pattern::parse(text);
    ASSERT_EQ(pattern.ok(), wanted.has_value()) << "'" << text << "'";
    if (!wanted) {
      ++malformed;
      continue;
    }
    ASSERT_EQ(pattern->matches(service), *wanted) << "'" << text << "' and " << service;
    matched += *wanted ? 1 : 0;
  }
  EXPECT_GT(malformed, 1000);
  EXPECT_GT(matched, 1000);
}

}  // namespace
}  // namespace tenon::cluster::traffic
