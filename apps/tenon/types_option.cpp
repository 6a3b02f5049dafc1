#include "types_option.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "manifest/nearest.hpp"

namespace tenon::cli {

namespace {

struct Word {
  std::string_view text;
  Kind kind;
};
constexpr Word words[] = {
    {"bool", Kind::boolean},  {"boolean", Kind::boolean}, {"i8", Kind::i8},       {"i16", Kind::i16},
    {"i32", Kind::i32},       {"i64", Kind::i64},         {"u8", Kind::u8},       {"u16", Kind::u16},
    {"u32", Kind::u32},       {"u64", Kind::u64},         {"f32", Kind::f32},     {"f64", Kind::f64},
    {"string", Kind::string}, {"bytes", Kind::bytes},     {"value", Kind::value}, {"byte", Kind::i8},
    {"short", Kind::i16},     {"int", Kind::i32},         {"long", Kind::i64},    {"float", Kind::f32},
    {"double", Kind::f64},    {"list", Kind::list},       {"map", Kind::map},
};

bool is_map_key(const SchemaType& type) {
  return !type.optional &&
         (type.kind == Kind::boolean || type.kind == Kind::string || (type.kind >= Kind::i8 && type.kind <= Kind::u64));
}

/// Recursive descent; recursion is bounded by the depth that a schema may have anyway.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<SchemaType>> all() {
    std::vector<SchemaType> types;
    skip_spaces();
    if (at_ == text_.size()) return types;
    do {
      types.emplace_back();
      type(types.back(), 0);
    } while (!fault_ && taken(','));
    if (!fault_ && at_ != text_.size())
      refuse(at_, "expected a comma or the end, found \"" + std::string(rest()) + '"');
    if (fault_) return std::move(fault_);
    return types;
  }

 private:
  void refuse(std::size_t at, const std::string& what) {
    if (fault_) return;
    fault_ = Error(Errc::config, "--types '" + std::string(text_) + "': column " + std::to_string(at + 1) + ": " + what,
                   Delivery::not_run, Advice::never);
  }
  std::string_view rest() const { return text_.substr(at_, 16); }
  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool taken(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_spaces();
    return true;
  }
  void expect(char c, const char* where) {
    if (fault_ || taken(c)) return;
    const std::string found = at_ == text_.size() ? "the end" : '"' + std::string(rest()) + '"';
    refuse(at_, std::string("expected '") + c + "' " + where + ", found " + found);
  }

  std::string_view word() {
    skip_spaces();
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return text_.substr(from, at_ - from);
  }

  void type(SchemaType& made, int depth) {
    skip_spaces();
    const std::size_t from = at_;
    if (depth > DynamicTypes::Limits().type_depth) return refuse(from, "types are nested too deeply");
    const std::string_view name = word();
    if (name.empty())
      return refuse(from, at_ == text_.size() ? "a type is missing at the end"
                                              : "expected a type, found \"" + std::string(rest()) + '"');
    const auto* known = std::find_if(std::begin(words), std::end(words), [&](const Word& w) { return w.text == name; });
    if (known == std::end(words)) return unknown(from, name);
    made.kind = known->kind;
    if (made.kind == Kind::list) {
      expect('<', "after list");
      type(made.parts.emplace_back(), depth + 1);
      expect('>', "after the element's type");
    } else if (made.kind == Kind::map) {
      expect('<', "after map");
      const std::size_t key = at_;
      type(made.parts.emplace_back(), depth + 1);
      if (!fault_ && !is_map_key(made.parts[0]))
        refuse(key, "a map's key is text, an integer or a boolean, not " + to_text(made.parts[0]));
      expect(',', "after the key's type");
      type(made.parts.emplace_back(), depth + 1);
      expect('>', "after the value's type");
    }
    if (!fault_) made.optional = taken('?');
  }

  void unknown(std::size_t from, std::string_view name) {
    std::vector<std::string_view> names;
    for (const Word& known : words) names.push_back(known.text);
    const std::string near = did_you_mean(name, names);
    refuse(from, "no type \"" + std::string(name) + '"' + (near.empty() ? "; there are: " + listed(names) : near));
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  Error fault_;
};

}  // namespace

Result<std::vector<SchemaType>> parse_types(std::string_view text) { return Parser(text).all(); }

std::string to_text(const SchemaType& type) {
  std::string text(type.kind == Kind::boolean ? "bool" : to_string(type.kind));
  for (std::size_t i = 0; i < type.parts.size(); ++i) text += (i == 0 ? '<' : ',') + to_text(type.parts[i]);
  if (!type.parts.empty()) text += '>';
  if (type.optional) text += '?';
  return text;
}

}  // namespace tenon::cli
