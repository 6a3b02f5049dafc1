#include "simple_reader.hpp"

#include <algorithm>
#include <string>

#include "tenon/describe.hpp"

namespace tenon::simple {

namespace {

std::string bytes_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

// A key as a path shows it: only what cannot spoil a log line.
bool is_plain(std::string_view key) {
  return !key.empty() && key.size() <= 64 &&
         std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7F && c != '"'; });
}

}  // namespace

std::string describe(Tag tag) {
  std::string text = "tag " + std::to_string(static_cast<int>(tag));
  switch (tag) {
    case Tag::null: return text + " (null)";
    case Tag::string: return text + " (string)";
    case Tag::string_map: return text + " (map of strings)";
    case Tag::bytes: return text + " (bytes)";
    case Tag::string_list: return text + " (list of strings)";
    case Tag::boolean: return text + " (boolean)";
    case Tag::i8: return text + " (i8)";
    case Tag::i16: return text + " (i16)";
    case Tag::i32: return text + " (i32)";
    case Tag::i64: return text + " (i64)";
    case Tag::f32: return text + " (f32)";
    case Tag::f64: return text + " (f64)";
    case Tag::map: return text + " (map)";
    case Tag::list: return text + " (list)";
  }
  return text + " (unknown)";
}

// "argument 2.user.mails[3]": where the reader stands.
std::string SimpleReader::path() const {
  std::string where;
  for (int i = 0; i < depth_; ++i) {
    const Level& level = levels_[static_cast<std::size_t>(i)];
    if (level.index == 0) continue;
    switch (level.shape) {
      case Shape::list: where += '[' + std::to_string(level.index - 1) + ']'; break;
      case Shape::map:
        if (is_plain(level.key)) {
          where += "[\"" + std::string(level.key) + "\"]";
        } else {
          where += "[entry " + std::to_string(level.index) + ']';
        }
        break;
      case Shape::message:
        if (level.field || is_plain(level.key)) {
          if (!where.empty()) where += '.';
          where += level.field ? level.field->name : level.key;
        } else {
          where += "[entry " + std::to_string(level.index) + ']';
        }
        break;
      case Shape::arguments:
        if (!where.empty()) where += '.';
        where += "argument " + std::to_string(level.index);
        break;
      case Shape::bare:
      case Shape::nothing: break;
    }
  }
  return where.empty() ? "the value" : where;
}

bool SimpleReader::refuse(std::string what) {
  if (!failed()) fail(Error(Errc::malformed, "simple: " + path() + ": " + what, Delivery::not_run));
  return false;
}
bool SimpleReader::wrong(Tag found, std::string_view wanted) {
  return refuse(describe(found) + " where " + std::string(wanted) + " is wanted");
}
bool SimpleReader::missing(std::string_view wanted) {
  return refuse("the bytes end where " + std::string(wanted) + " is wanted");
}

// Takes the next value's tag.
bool SimpleReader::next(Tag& tag, std::string_view wanted) {
  if (failed()) return false;
  tag = implied();
  if (tag == Tag::null) {
    if (at_ == end_) return missing(wanted);
    tag = static_cast<Tag>(*at_++);
  } else if (at_ == end_) {
    return missing(wanted);
  }
  if (depth_ > 0) top().at_key = false;
  return true;
}

Kind SimpleReader::peek() {
  if (failed()) return Kind::null;
  if (at_ == end_) {
    missing("a value");
    return Kind::null;
  }
  const Tag tag = implied() == Tag::null ? static_cast<Tag>(*at_) : implied();
  switch (tag) {
    case Tag::null: return Kind::null;
    case Tag::string: return Kind::string;
    case Tag::bytes: return Kind::bytes;
    case Tag::boolean: return Kind::boolean;
    case Tag::i8: return Kind::i8;
    case Tag::i16: return Kind::i16;
    case Tag::i32: return Kind::i32;
    case Tag::i64: return Kind::i64;
    case Tag::f32: return Kind::f32;
    case Tag::f64: return Kind::f64;
    case Tag::string_map:
    case Tag::map: return Kind::map;
    case Tag::string_list:
    case Tag::list: return Kind::list;
  }
  wrong(tag, "a value");
  return Kind::null;
}

bool SimpleReader::null() {
  if (failed() || at_ == end_ || implied() != Tag::null || static_cast<Tag>(*at_) != Tag::null) return false;
  if (depth_ > 0 && top().at_key) return false;  // a key is never null: reading it will say so
  ++at_;
  return true;
}

bool SimpleReader::begin(Level level) {
  if (nested_ > max_depth || depth_ == static_cast<int>(levels_.size())) return refuse("nested deeper than 64 levels");
  levels_[static_cast<std::size_t>(depth_++)] = level;
  return true;
}

// Behind the tag of a list or map: from here to the end of its payload.
bool SimpleReader::begin_framed(Tag tag, Level level) {
  std::string_view content;
  if (!sized(content)) return false;
  level.implied = tag == Tag::string_list || tag == Tag::string_map ? Tag::string
                  : tag == Tag::bytes                               ? Tag::i8
                                                                    : Tag::null;
  level.framed = true;
  level.outside = end_;
  ++nested_;
  if (!begin(level)) return false;
  at_ = content.data();
  end_ = at_ + content.size();
  return true;
}

// At the end of a part: what is around it goes on behind it.
void SimpleReader::pop() {
  if (top().framed) {
    end_ = top().outside;
    --nested_;
  }
  --depth_;
}

bool SimpleReader::begin_list(const Type* element) {
  Tag tag{};
  if (!next(tag, "a list")) return false;
  const bool of_bytes = tag == Tag::bytes && element && (element->kind == Kind::i8 || element->kind == Kind::u8);
  const bool of_texts = tag == Tag::string_list && takes_text(element);
  if (tag != Tag::list && !of_bytes && !of_texts)
    return wrong(tag, element ? "a list of " + type_text(*element) : std::string("a list"));
  return begin_framed(tag, {.shape = Shape::list});
}

bool SimpleReader::next_element() {
  if (failed()) return false;
  if (at_ == end_) {
    pop();
    return false;
  }
  ++top().index;
  return true;
}

bool SimpleReader::begin_map(const Type* key, const Type* value) {
  Tag tag{};
  if (!next(tag, "a map")) return false;
  const bool of_texts = tag == Tag::string_map && takes_text(key) && takes_text(value);
  if (tag != Tag::map && !of_texts) {
    const Type wanted{.kind = Kind::map, .element = value, .key = key};
    return wrong(tag, key || value ? "a " + type_text(wanted) : std::string("a map"));
  }
  return begin_framed(tag, {.shape = Shape::map});
}

bool SimpleReader::next_entry() {
  if (failed()) return false;
  if (at_ == end_) {
    pop();
    return false;
  }
  Level& level = top();
  ++level.index;
  level.at_key = true;
  level.key = {};
  return true;
}

// True where the whole value stands: nothing but bare values around.
bool SimpleReader::alone() const {
  return std::all_of(levels_.begin(), levels_.begin() + depth_, [](const Level& l) { return l.shape == Shape::bare; });
}

bool SimpleReader::begin_message(const MessageType& type) {
  if (failed()) return false;
  switch (type.form()) {
    case Form::bare: return begin({.shape = Shape::bare, .implied = implied()});
    case Form::arguments: {
      if (depth_ == 0) return begin({.shape = Shape::arguments});
      Tag tag{};
      if (!next(tag, "an argument list")) return false;
      if (tag != Tag::list && tag != Tag::string_list) return wrong(tag, "an argument list");
      return begin_framed(tag, {.shape = Shape::arguments});
    }
    case Form::message: break;
  }
  if (alone()) {
    // A void is whatever the peer's method returned; a message that is null is a default one.
    if (is_void(type)) return (at_ == end_ || skip()) && begin({.shape = Shape::nothing});
    if (null()) return begin({.shape = Shape::nothing});
  }
  Tag tag{};
  if (!next(tag, type.name())) return false;
  if (tag != Tag::map && tag != Tag::string_map) return wrong(tag, type.name());
  return begin_framed(tag, {.shape = Shape::message});
}

// False: there is none, or an error.
bool SimpleReader::next_argument(const MessageType& type, const Field*& field) {
  Level& level = top();
  const std::span<const Field> fields = type.fields();
  while (level.index < fields.size()) {
    field = level.field = &fields[level.index++];
    if (at_ < end_) return true;
    if (field->type->optional) continue;
    fail(Error(Errc::malformed, "simple: " + path() + " (" + type_text(*field->type) + ") is missing",
               Delivery::not_run));
    return false;
  }
  if (!level.framed) at_ = end_;  // further arguments are ignored, as other peers do
  if (at_ != end_)
    return refuse("is the last, with " + bytes_text(static_cast<std::size_t>(end_ - at_)) + " left over behind it");
  return false;
}

const Field* SimpleReader::next_field(const MessageType& type) {
  if (failed()) return nullptr;
  Level& level = top();
  switch (level.shape) {
    case Shape::bare:
      if (level.index++ == 0) return &type.fields()[0];
      break;
    case Shape::arguments: {
      const Field* field = nullptr;
      if (next_argument(type, field)) return field;
      if (failed()) return nullptr;
      break;
    }
    case Shape::message: {
      const std::span<const Field> fields = type.fields();
      while (at_ < end_) {
        const std::uint32_t index = level.index++;
        level.field = nullptr;
        level.key = {};
        Tag tag{};
        if (!next(tag, "a member's name")) return nullptr;
        if (tag != Tag::string) {
          wrong(tag, "a member's name");
          return nullptr;
        }
        if (!sized(level.key)) return nullptr;
        // Most often members come in their order.
        level.field = index < fields.size() && fields[index].name == level.key ? &fields[index] : type.find(level.key);
        if (level.field) {
          if (at_ == end_) missing(type_text(*level.field->type));
          return failed() ? nullptr : level.field;
        }
        if (!skip()) return nullptr;
      }
      break;
    }
    default: break;
  }
  pop();
  return nullptr;
}

void SimpleReader::finish() {
  if (failed() || at_ == end_) return;
  refuse(bytes_text(static_cast<std::size_t>(end_ - at_)) + " left over behind its end");
}

}  // namespace tenon::simple
