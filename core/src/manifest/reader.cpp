#include "manifest/reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "manifest/nearest.hpp"
#include "manifest/scalar.hpp"
#include "tenon/component.hpp"

namespace tenon::manifest {

namespace {

constexpr std::string_view use_key = "use";

bool is_null(const Node& node) noexcept {
  return node.kind == Node::Kind::null || (node.kind == Node::Kind::scalar && !node.quoted && is_null_text(node.text));
}

bool accepts_null(const Type* type) noexcept {
  return type == nullptr || type->optional || type->kind == Kind::value || type->kind == Kind::null;
}

bool is_inline(const Field& field) noexcept {
  return field.type->kind == Kind::component && field.type->component_kind == ValueTraits<InlineComponent>::slot;
}

std::int64_t lowest(Kind kind) noexcept {
  switch (kind) {
    case Kind::i8: return std::numeric_limits<std::int8_t>::min();
    case Kind::i16: return std::numeric_limits<std::int16_t>::min();
    case Kind::i32: return std::numeric_limits<std::int32_t>::min();
    default: return std::numeric_limits<std::int64_t>::min();
  }
}

std::uint64_t highest(Kind kind) noexcept {
  switch (kind) {
    case Kind::i8: return std::numeric_limits<std::int8_t>::max();
    case Kind::i16: return std::numeric_limits<std::int16_t>::max();
    case Kind::i32: return std::numeric_limits<std::int32_t>::max();
    case Kind::i64: return std::numeric_limits<std::int64_t>::max();
    case Kind::u8: return std::numeric_limits<std::uint8_t>::max();
    case Kind::u16: return std::numeric_limits<std::uint16_t>::max();
    case Kind::u32: return std::numeric_limits<std::uint32_t>::max();
    default: return std::numeric_limits<std::uint64_t>::max();
  }
}

}  // namespace

ComponentSource::~ComponentSource() = default;

ManifestReader::ManifestReader(Place place, Diagnostics& diagnostics, ComponentSource* source,
                               std::vector<std::string_view> own_keys)
    : place_(std::move(place)),
      diagnostics_(diagnostics),
      source_(source),
      own_keys_(std::move(own_keys)),
      next_(place_.node),
      last_(place_.node->at),
      path_(place_.path) {}

void ManifestReader::read(const MessageType& type, void* object) {
  type.read(object, *this);
  // Checks of the type itself fail the reader without a position: it is that of the value read last.
  if (failed()) diagnostics_.add(last_, (path_.empty() ? "" : path_ + ": ") + error().text());
}

const Node& ManifestReader::take() {
  const Node& node = *next_;
  last_ = node.at;
  if (entry_ && next_ == &entry_->key) {
    next_ = &entry_->value;
    path_ += (path_.empty() ? "" : ".") + entry_->key.text;
  }
  return node;
}

void ManifestReader::wrong(const Node& node, std::string text) {
  diagnostics_.add(node.at, (path_.empty() ? "" : path_ + ": ") + std::move(text));
}

void ManifestReader::expect(const Node& node, std::string_view expected) {
  wrong(node, "expected " + std::string(expected) + ", found " + describe(node));
}

const Node* ManifestReader::scalar(std::string_view expected) {
  const Node& node = take();
  if (node.kind == Node::Kind::scalar) return &node;
  expect(node, expected);
  return nullptr;
}

void ManifestReader::push(const Node* node) {
  Level level;
  level.node = node;
  level.path_size = path_.size();
  level.root = levels_.empty();
  levels_.push_back(std::move(level));
}

bool ManifestReader::nothing_there(const Node& node, const Type* type) {
  if (!is_null(node) || accepts_null(type)) return false;
  wrong(node, "has no value; give it one or remove it");
  return true;
}

Kind ManifestReader::peek() {
  const Node& node = *next_;
  if (is_null(node)) return Kind::null;
  if (node.kind == Node::Kind::list) return Kind::list;
  if (node.kind == Node::Kind::map) return Kind::map;
  if (node.quoted || (entry_ && next_ == &entry_->key)) return Kind::string;
  if (node.text == "true" || node.text == "false") return Kind::boolean;
  std::int64_t integer = 0;
  std::uint64_t number = 0;
  double floating = 0;
  if (parse_integer(node.text, integer).empty()) return Kind::i64;
  if (parse_unsigned(node.text, number).empty()) return Kind::u64;
  if (parse_floating(node.text, floating).empty()) return Kind::f64;
  return Kind::string;
}

bool ManifestReader::null() {
  if (failed() || !is_null(*next_)) return false;
  take();
  return true;
}

bool ManifestReader::boolean(bool& value) {
  if (failed()) return false;
  const Node* node = scalar("true or false");
  if (!node) return true;
  if (!node->quoted && (node->text == "true" || node->text == "false")) {
    value = node->text == "true";
  } else {
    expect(*node, "true or false");
  }
  return true;
}

bool ManifestReader::integer(std::int64_t& value, Kind kind) {
  if (failed()) return false;
  const Node* node = scalar("a whole number");
  if (!node) return true;
  std::int64_t parsed = 0;
  if (node->quoted) {
    expect(*node, "a whole number without quotes");
  } else if (Wrong text = parse_integer(node->text, parsed); !text.empty()) {
    wrong(*node, "expected " + text);
  } else if (parsed < lowest(kind) || (parsed > 0 && static_cast<std::uint64_t>(parsed) > highest(kind))) {
    wrong(*node, "expected a number from " + std::to_string(lowest(kind)) + " to " + std::to_string(highest(kind)) +
                     ", found " + node->text);
  } else {
    value = parsed;
  }
  return true;
}

bool ManifestReader::unsigned_integer(std::uint64_t& value, Kind kind) {
  if (failed()) return false;
  const bool size = kind == Kind::size;
  const Node* node = scalar(size ? "a size such as 64KiB" : "a whole number");
  if (!node) return true;
  std::uint64_t parsed = 0;
  if (node->quoted && !size) {
    expect(*node, "a whole number without quotes");
  } else if (Wrong text = size ? parse_size(node->text, parsed) : parse_unsigned(node->text, parsed); !text.empty()) {
    wrong(*node, "expected " + text);
  } else if (!size && parsed > highest(kind)) {
    wrong(*node, "expected a number from 0 to " + std::to_string(highest(kind)) + ", found " + node->text);
  } else {
    value = parsed;
  }
  return true;
}

bool ManifestReader::floating(double& value, Kind kind) {
  if (failed()) return false;
  const Node* node = scalar("a number");
  if (!node) return true;
  double parsed = 0;
  if (node->quoted) {
    expect(*node, "a number without quotes");
  } else if (Wrong text = parse_floating(node->text, parsed); !text.empty()) {
    wrong(*node, "expected " + text);
  } else if (kind == Kind::f32 && std::abs(parsed) > std::numeric_limits<float>::max()) {
    wrong(*node, "expected a number that fits 32 bits, found " + node->text);
  } else {
    value = parsed;
  }
  return true;
}

bool ManifestReader::string(std::string& value) {
  if (failed()) return false;
  if (const Node* node = scalar("text")) value = node->text;
  return true;
}

bool ManifestReader::bytes(std::string& value) { return string(value); }

bool ManifestReader::enumeration(std::int32_t& value, const EnumType& type) {
  if (failed()) return false;
  std::vector<std::string_view> names;
  for (const Enumerator& enumerator : type.enumerators) names.push_back(enumerator.name);
  std::string allowed;
  for (const std::string_view name : names) allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  const Node* node = scalar("one of " + allowed);
  if (!node) return true;
  if (const Enumerator* found = type.find(node->text)) {
    value = found->number;
  } else {
    wrong(*node, "expected one of " + allowed + ", found " + describe(*node) + did_you_mean(node->text, names));
  }
  return true;
}

bool ManifestReader::duration(std::chrono::nanoseconds& value) {
  if (failed()) return false;
  const Node* node = scalar("a duration such as 250ms or 5s");
  if (!node) return true;
  std::chrono::nanoseconds parsed{0};
  if (Wrong text = parse_duration(node->text, parsed); !text.empty()) {
    wrong(*node, "expected " + text);
  } else {
    value = parsed;
  }
  return true;
}

bool ManifestReader::begin_list(const Type* element) {
  if (failed()) return false;
  const Node& node = take();
  const bool list = node.kind == Node::Kind::list;
  const bool text = element && element->kind == Kind::string && node.kind == Node::Kind::scalar;
  const bool component = element && element->kind == tenon::Kind::component && !list;
  const bool only = text || component;
  if (only) {
    push(&node);
    levels_.back().element = element;
    return true;
  }
  if (node.kind == Node::Kind::scalar) {
    expect(node, "a list such as [" + node.text.substr(0, 40) + "]");
  } else if (!list) {
    expect(node, "a list");
  }
  push(list ? &node : nullptr);
  levels_.back().element = element;
  return true;
}

bool ManifestReader::next_element() {
  if (failed()) return false;
  Level& level = levels_.back();
  // One text or component without brackets is a list of one.
  if (level.node && level.node->kind != Node::Kind::list && level.next == 0) {
    ++level.next;
    next_ = level.node;
    entry_ = nullptr;
    return true;
  }
  while (level.node && level.next < level.node->elements.size()) {
    path_.resize(level.path_size);
    path_ += '[' + std::to_string(level.next) + ']';
    next_ = &level.node->elements[level.next++];
    entry_ = nullptr;
    if (!nothing_there(*next_, level.element)) return true;
  }
  path_.resize(level.path_size);
  levels_.pop_back();
  return false;
}

bool ManifestReader::begin_map(const Type*, const Type* value) {
  if (failed()) return false;
  const Node& node = take();
  const bool map = node.kind == Node::Kind::map;
  if (!map) expect(node, "a map of names to values");
  push(map ? &node : nullptr);
  levels_.back().element = value;
  return true;
}

bool ManifestReader::next_entry() {
  if (failed()) return false;
  Level& level = levels_.back();
  while (level.node && level.next < level.node->entries.size()) {
    path_.resize(level.path_size);
    entry_ = &level.node->entries[level.next++];
    next_ = &entry_->key;
    if (!is_null(entry_->value) || accepts_null(level.element)) return true;
    path_ += (path_.empty() ? "" : ".") + entry_->key.text;
    nothing_there(entry_->value, level.element);
  }
  path_.resize(level.path_size);
  levels_.pop_back();
  return false;
}

bool ManifestReader::key(std::string& value) { return string(value); }

bool ManifestReader::begin_message(const MessageType& type) {
  if (failed()) return false;
  const Node& node = take();
  const auto fields = type.fields();
  const auto rest = std::find_if(fields.begin(), fields.end(), is_inline);
  const bool named = rest != fields.end() && node.kind == Node::Kind::scalar;
  if (node.kind != Node::Kind::map && !named) expect(node, "a map of options");
  push(node.kind == Node::Kind::map || named ? &node : nullptr);
  Level& level = levels_.back();
  if (rest == fields.end()) return true;
  level.rest = &*rest;
  for (const Field& field : fields)
    if (&field != level.rest) level.known.push_back(field.name);
  level.known.push_back(use_key);
  return true;
}

const Field* ManifestReader::next_field(const MessageType& type) {
  if (failed()) return nullptr;
  Level& level = levels_.back();
  const bool uses = level.rest && level.node && level.node->find(use_key) != nullptr;
  while (level.node && level.next < level.node->entries.size()) {
    path_.resize(level.path_size);
    const Entry& entry = level.node->entries[level.next++];
    const std::string& name = entry.key.text;
    if (level.root && std::find(own_keys_.begin(), own_keys_.end(), name) != own_keys_.end()) continue;
    const Field* field = type.find(name);
    if (level.rest && (field == level.rest || name == use_key || !field)) {
      if (name == use_key || uses) continue;
      field = nullptr;
    }
    if (!field) {
      std::vector<std::string_view> names = level.known;
      if (!level.rest)
        for (const Field& known : type.fields()) names.push_back(known.name);
      std::vector<std::string_view> near = names;
      if (level.root) near.insert(near.end(), own_keys_.begin(), own_keys_.end());
      std::string text = "unknown key \"" + name + '"';
      if (!path_.empty()) text += " in " + path_;
      const std::string hint = did_you_mean(name, near);
      if (hint.empty()) text += names.empty() ? "; it has no options" : "; known here: " + listed(std::move(names));
      diagnostics_.add(entry.key.at, text + hint);
      continue;
    }
    path_ += (path_.empty() ? "" : ".") + name;
    next_ = &entry.value;
    entry_ = nullptr;
    if (nothing_there(entry.value, field->type)) continue;
    return field;
  }
  path_.resize(level.path_size);
  if (level.rest && level.node && !level.rest_taken) {
    level.rest_taken = true;
    next_ = level.node;
    entry_ = nullptr;
    return level.rest;
  }
  levels_.pop_back();
  return nullptr;
}

}  // namespace tenon::manifest
