#include "component/leaves.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "log/log.hpp"
#include "tenon/call.hpp"
#include "tenon/cluster.hpp"
#include "tenon/filter.hpp"
#include "tenon/protocol.hpp"
#include "tenon/registry.hpp"
#include "tenon/serializer.hpp"
#include "tenon/transport.hpp"
#include "tenon/value.hpp"

namespace tenon {

namespace {

constexpr std::string_view hidden = "***";
constexpr std::size_t longest_text = 4096;

/// The kind of component that stands under a member of core's own options.
struct PlaceOfKind {
  std::string_view member;
  std::string_view kind;
};
constexpr std::array<PlaceOfKind, 12> places{{{"registries", Registry::kind},
                                              {"transport", Transport::kind},
                                              {"protocols", Protocol::kind},
                                              {"protocol", Protocol::kind},
                                              {"serializer", Serializer::kind},
                                              {"compress", Compressor::kind},
                                              {"cluster", Cluster::kind},
                                              {"router", Router::kind},
                                              {"balancer", Balancer::kind},
                                              {"ha", HaStrategy::kind},
                                              {"filters", Filter::kind},
                                              {"attempt_filters", Filter::kind}}};
constexpr std::string_view components_member = "components";

bool is_inline(const Field* field) noexcept {
  return field && field->type->kind == Kind::component &&
         field->type->component_kind == ValueTraits<InlineComponent>::slot;
}

bool has_parts(const Type* type) noexcept {
  return type && (type->kind == Kind::message || type->kind == Kind::component || type->kind == Kind::map ||
                  type->kind == Kind::list);
}

bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) noexcept { return is_upper(c) || (c >= 'a' && c <= 'z'); }

}  // namespace

bool is_secret_name(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 6> anywhere{"password", "passwd", "passphrase",
                                                     "secret",   "token",  "credential"};
  constexpr std::array<std::string_view, 3> as_word{"key", "apikey", "auth"};
  const auto same = [](char a, char b) { return a == b || (is_upper(a) && a - 'A' + 'a' == b); };
  const auto at = [&](std::string_view text, std::string_view word) {
    return text.size() >= word.size() &&
           std::equal(word.begin(), word.end(), text.begin(), [&](char b, char a) { return same(a, b); });
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = name.substr(i);
    if (std::any_of(anywhere.begin(), anywhere.end(), [&](std::string_view word) { return at(rest, word); }))
      return true;
    // A word starts after no letter or with a capital after a small one ("apiKey"), and ends likewise.
    const bool starts = i == 0 || !is_letter(name[i - 1]) || (is_upper(name[i]) && !is_upper(name[i - 1]));
    if (!starts) continue;
    for (const std::string_view word : as_word) {
      if (!at(rest, word)) continue;
      if (rest.size() == word.size() || !is_letter(rest[word.size()])) return true;
      if (is_upper(rest[word.size()]) && !is_upper(rest[word.size() - 1])) return true;
    }
  }
  return false;
}

std::string shown_text(const Leaf& leaf) {
  if (leaf.secret) return std::string(hidden);
  std::string text = leaf.text;
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at)) {
    at += 3;
    const std::size_t host = std::min(text.find_first_of("/?# ,", at), text.size());
    const std::size_t user_end = text.substr(0, host).rfind('@');
    const std::size_t colon = text.find(':', at);
    if (user_end == std::string::npos || user_end < at || colon > user_end) continue;
    text.replace(colon + 1, user_end - colon - 1, hidden);
  }
  return text;
}

bool LeafWriter::below_secret() const noexcept {
  return !levels_.empty() && (levels_.back().secret || levels_.back().at_secret);
}

void LeafWriter::push(Level::Form form) {
  step();
  Level level{form, path_.size(), below_secret()};
  levels_.push_back(std::move(level));
}

void LeafWriter::pop() {
  path_.resize(levels_.back().path_size);
  levels_.pop_back();
  if (!levels_.empty() && levels_.back().form == Level::Form::map) levels_.back().at_key = true;
}

void LeafWriter::step() {
  if (levels_.empty() || levels_.back().form != Level::Form::list) return;
  Level& list = levels_.back();
  path_.resize(list.path_size);
  path_ += '[' + std::to_string(list.next++) + ']';
}

void LeafWriter::key(std::string_view key) {
  Level& map = levels_.back();
  map.at_key = false;
  map.key = key;
  map.at_secret = map.keys_tell && is_secret_name(key);
  path_.resize(map.path_size);
  if (!path_.empty()) path_ += '.';
  path_ += one_line(key, longest_text);
}

void LeafWriter::text(std::string value, bool may_be_secret) {
  if (is_key()) return key(value);
  step();
  const bool secret = may_be_secret && below_secret() && !value.empty();
  visitor_.leaf({path_, std::move(value), secret});
  if (!levels_.empty() && levels_.back().form == Level::Form::map) levels_.back().at_key = true;
}

void LeafWriter::integer(std::int64_t value, Kind) { text(std::to_string(value), false); }

void LeafWriter::unsigned_integer(std::uint64_t value, Kind kind) {
  text(kind == Kind::size ? to_text(ByteSize(value)) : std::to_string(value), false);
}

void LeafWriter::floating(double value, Kind kind) {
  text(to_text(kind == Kind::f32 ? Value(static_cast<float>(value)) : Value(value)), false);
}

void LeafWriter::string(std::string_view value) {
  text(value.empty() ? "\"\"" : one_line(value, longest_text), !value.empty());
}

void LeafWriter::bytes(std::string_view value) { text(to_text(Value(Bytes{std::string(value)})), !value.empty()); }

void LeafWriter::enumeration(std::int32_t value, const EnumType& type) {
  const Enumerator* const known = type.find(value);
  text(known ? std::string(known->name) : std::to_string(value), false);
}

void LeafWriter::duration(std::chrono::nanoseconds value) { text(to_text(value), false); }

void LeafWriter::begin_list(std::size_t size, const Type*) {
  if (size == 0) {
    text("[]", false);
    // Balanced by end_list(): a level whose end changes nothing.
    levels_.push_back(Level{Level::Form::message, path_.size(), false});
    return;
  }
  push(Level::Form::list);
}

void LeafWriter::begin_map(std::size_t size, const Type*, const Type* value) {
  if (size == 0) {
    text("{}", false);
    levels_.push_back(Level{Level::Form::message, path_.size(), false});
    return;
  }
  push(Level::Form::map);
  levels_.back().at_key = true;
  levels_.back().keys_tell = !has_parts(value);
}

void LeafWriter::begin_message(const MessageType& type) {
  const bool own_defaults = levels_.empty() || levels_.back().form != Level::Form::message;
  push(Level::Form::message);
  levels_.back().message = &type;
  if (own_defaults) visitor_.message(path_, type);
}

std::string LeafWriter::member_path(const Field& field) const {
  std::string path = path_.substr(0, levels_.back().path_size);
  if (!path.empty()) path += '.';
  return path.append(is_inline(&field) ? "use" : field.name);
}

void LeafWriter::absent(const Field& field) {
  if (field.type->kind == Kind::component)
    visitor_.component(member_path(field), member_path(field), {}, Component());
  else
    visitor_.leaf({member_path(field), {}, false});
}

void LeafWriter::field(const Field& field) {
  Level& level = levels_.back();
  const auto fields = level.message->fields();
  for (; level.next < field.index && level.next < fields.size(); ++level.next) absent(fields[level.next]);
  level.next = field.index + 1;
  level.field = &field;
  level.at_secret = is_secret_name(field.name);
  path_ = member_path(field);
}

void LeafWriter::end_message() {
  Level& level = levels_.back();
  const auto fields = level.message->fields();
  for (; level.next < fields.size(); ++level.next) absent(fields[level.next]);
  pop();
}

// The member it stands under says it, below "components" the first key.
std::string_view LeafWriter::component_kind() const noexcept {
  std::string_view first_key;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    if (level->form == Level::Form::map) first_key = level->key;
    if (level->form != Level::Form::message || !level->field) continue;
    if (level->field->name == components_member) return first_key;
    for (const PlaceOfKind& place : places)
      if (place.member == level->field->name) return place.kind;
    return {};
  }
  return {};
}

void LeafWriter::component(const Component& component) {
  step();
  const bool stands_inline = !levels_.empty() && is_inline(levels_.back().field);
  const std::string holder = stands_inline ? path_.substr(0, levels_.back().path_size) : path_;
  visitor_.component(path_, holder, component_kind(), component);
  if (!levels_.empty() && levels_.back().form == Level::Form::map) levels_.back().at_key = true;
}

}  // namespace tenon
