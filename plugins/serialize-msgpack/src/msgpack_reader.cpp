#include "msgpack_reader.hpp"

#include <algorithm>
#include <span>

#include "tenon/describe.hpp"

namespace tenon::msgpack {

namespace {

// A key as a path shows it: only what cannot spoil a log line.
bool is_plain(std::string_view key) {
  return !key.empty() && key.size() <= 64 &&
         std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7F && c != '"'; });
}

}  // namespace

std::string describe(std::uint8_t first) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "0x";
  text += digits[first >> 4];
  text += digits[first & 15];
  switch (detail::formats[first].family) {
    case Family::nil: return text + " (nil)";
    case Family::boolean: return text + " (boolean)";
    case Family::positive:
    case Family::negative: return text + " (integer)";
    case Family::f32: return text + " (float 32)";
    case Family::f64: return text + " (float 64)";
    case Family::string: return text + " (string)";
    case Family::bytes: return text + " (bin)";
    case Family::list: return text + " (array)";
    case Family::map: return text + " (map)";
    case Family::extension: return text + " (extension)";
    case Family::never_used: return text + " (never used)";
  }
  return text;
}

// "argument 2.user.mails[3]": where the reader stands.
std::string MsgpackReader::path() const {
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

bool MsgpackReader::refuse(std::string what) {
  if (!failed()) fail(Error(Errc::malformed, "msgpack: " + path() + ": " + what, Delivery::not_run));
  return false;
}
bool MsgpackReader::wrong(const Head& found, std::string_view wanted) {
  return refuse(describe(found.first) + " where " + std::string(wanted) + " is wanted");
}
bool MsgpackReader::missing(std::string_view wanted) {
  return refuse("the bytes end where " + std::string(wanted) + " is wanted");
}

// The next value's head, which stays there.
bool MsgpackReader::look(Head& head, std::string_view wanted) {
  if (failed()) return false;
  if (at_ == end_) return missing(wanted);
  const std::size_t size = head_size(*at_);
  if (size > left())
    return refuse(describe(static_cast<std::uint8_t>(*at_)) + " needs " + std::to_string(size) + " bytes, of which " +
                  std::to_string(left()) + " are there");
  head = read_head(at_);
  return true;
}

// Takes it.
bool MsgpackReader::next(Head& head, std::string_view wanted) {
  if (!look(head, wanted)) return false;
  at_ += head_size(*at_);
  if (depth_ > 0) top().at_key = false;
  return true;
}

Kind MsgpackReader::peek() {
  Head head;
  if (!look(head, "a value")) return Kind::null;
  switch (head.family) {
    case Family::nil: return Kind::null;
    case Family::boolean: return Kind::boolean;
    case Family::positive: return head.number > INT64_MAX ? Kind::u64 : Kind::i64;
    case Family::negative: return Kind::i64;
    case Family::f32: return Kind::f32;
    case Family::f64: return Kind::f64;
    case Family::string: return Kind::string;
    case Family::bytes: return Kind::bytes;
    case Family::list: return Kind::list;
    case Family::map: return Kind::map;
    case Family::extension:
    case Family::never_used: break;
  }
  wrong(head, "a value");
  return Kind::null;
}

bool MsgpackReader::null() {
  if (failed() || at_ == end_ || static_cast<unsigned char>(*at_) != 0xc0) return false;
  if (at_key()) return false;  // a key is never null: reading it will say so
  ++at_;
  return true;
}

// Each value takes a byte at least.
bool MsgpackReader::claim(const Head& head, std::uint64_t values) {
  if (values <= left()) return true;
  return refuse(describe(head.first) + " announces " + std::to_string(values) + " values, for which there are " +
                std::to_string(left()) + " bytes");
}

// Behind the head of a list, map, message or argument list; shapes without one have an empty head.
bool MsgpackReader::begin(Shape shape, const Head& head) {
  const bool nested = shape != Shape::bare && shape != Shape::nothing;
  if (nested && !claim(head, head.family == Family::map ? 2 * head.number : head.number)) return false;
  nested_ += nested ? 1 : 0;
  if (nested_ > max_depth || depth_ == static_cast<int>(levels_.size())) return refuse("nested deeper than 64 levels");
  levels_[static_cast<std::size_t>(depth_++)] = {.shape = shape,
                                                 .at_key = false,
                                                 .left = static_cast<std::uint32_t>(head.number),
                                                 .index = 0,
                                                 .field = nullptr,
                                                 .key = {}};
  return true;
}

void MsgpackReader::pop() {
  if (top().shape != Shape::bare && top().shape != Shape::nothing) --nested_;
  --depth_;
}

bool MsgpackReader::begin_list(const Type* element) {
  const bool is_key = at_key();
  Head head;
  if (!next(head, "a list")) return false;
  if (is_key) return wrong(head, "a key (of a scalar kind)");
  if (head.family != Family::list) return wrong(head, element ? "a list of " + type_text(*element) : "a list");
  return begin(Shape::list, head);
}

bool MsgpackReader::next_element() {
  if (failed()) return false;
  Level& level = top();
  if (level.left == 0) {
    pop();
    return false;
  }
  --level.left;
  ++level.index;
  return true;
}

bool MsgpackReader::begin_map(const Type* key, const Type* value) {
  const bool is_key = at_key();
  Head head;
  if (!next(head, "a map")) return false;
  if (is_key) return wrong(head, "a key (of a scalar kind)");
  if (head.family != Family::map) {
    const Type wanted{.kind = Kind::map, .element = value, .key = key};
    return wrong(head, key || value ? "a " + type_text(wanted) : "a map");
  }
  return begin(Shape::map, head);
}

bool MsgpackReader::next_entry() {
  if (failed()) return false;
  Level& level = top();
  if (level.left == 0) {
    pop();
    return false;
  }
  --level.left;
  ++level.index;
  level.at_key = true;
  level.key = {};
  return true;
}

// True where the whole value stands: nothing but bare values around.
bool MsgpackReader::alone() const {
  return std::all_of(levels_.begin(), levels_.begin() + depth_, [](const Level& l) { return l.shape == Shape::bare; });
}

bool MsgpackReader::begin_message(const MessageType& type) {
  if (failed()) return false;
  Head head;
  switch (type.form()) {
    case Form::bare: return begin(Shape::bare, {.number = 1});
    case Form::arguments:
      if (!next(head, "an argument list")) return false;
      if (head.family != Family::list) return wrong(head, "an argument list (array)");
      if (head.number > type.fields().size())
        return refuse(std::to_string(head.number) + " arguments for " + std::to_string(type.fields().size()));
      return begin(Shape::arguments, head);
    case Form::message: break;
  }
  if (alone() && null()) return begin(Shape::nothing, {});  // a whole message that is nil is a default one
  if (!next(head, type.name())) return false;
  if (head.family != Family::map) return wrong(head, type.name());
  return begin(Shape::message, head);
}

// True: top().field is the member to be read. False: there is none, or an error.
bool MsgpackReader::next_member(const MessageType& type) {
  Level& level = top();
  const std::span<const Field> fields = type.fields();
  while (level.left > 0) {
    const std::uint32_t index = level.index++;
    --level.left;
    level.field = nullptr;
    level.key = {};
    Head head;
    if (!look(head, "a member's name")) return false;
    if (head.family == Family::list || head.family == Family::map) return wrong(head, "a member's name");
    if (head.family == Family::string) {
      at_ += head_size(*at_);
      if (!content(head, level.key)) return false;
      // Most often members come in their order.
      level.field = index < fields.size() && fields[index].name == level.key ? &fields[index] : type.find(level.key);
    } else if (!skip()) {  // a member that goes by something else than a name is none of ours
      return false;
    }
    if (level.field) return at_ < end_ || missing(type_text(*level.field->type));
    if (!skip()) return false;
  }
  return false;
}

bool MsgpackReader::next_argument(const MessageType& type) {
  Level& level = top();
  const std::span<const Field> fields = type.fields();
  while (level.index < fields.size()) {
    level.field = &fields[level.index++];
    if (level.left > 0) {
      --level.left;
      return true;
    }
    if (level.field->type->optional) continue;
    fail(Error(Errc::malformed, "msgpack: " + path() + " (" + type_text(*level.field->type) + ") is missing",
               Delivery::not_run));
    return false;
  }
  return false;
}

const Field* MsgpackReader::next_field(const MessageType& type) {
  if (failed()) return nullptr;
  Level& level = top();
  switch (level.shape) {
    case Shape::bare:
      if (level.index++ == 0) return &type.fields()[0];
      break;
    case Shape::arguments:
      if (next_argument(type)) return level.field;
      break;
    case Shape::message:
      if (next_member(type)) return level.field;
      break;
    default: break;
  }
  if (!failed()) pop();
  return nullptr;
}

void MsgpackReader::finish() {
  if (failed() || at_ == end_) return;
  refuse(std::to_string(left()) + (left() == 1 ? " byte" : " bytes") + " left over behind its end");
}

}  // namespace tenon::msgpack
