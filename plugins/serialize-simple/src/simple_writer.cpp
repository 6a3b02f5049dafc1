#include "simple_writer.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "tenon/utf8.hpp"

namespace tenon::simple {

namespace {

Error refused(std::string text) {
  return Error(Errc::invalid_argument, "simple: " + std::move(text), Delivery::not_run, Advice::never);
}

char* store_big_endian(char* to, std::uint64_t value, int bytes) noexcept {
  for (int i = bytes - 1; i >= 0; --i) *to++ = static_cast<char>(value >> (8 * i));
  return to;
}

char* store_zigzag(char* to, std::int64_t value) noexcept {
  std::uint64_t rest = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  while (rest >= 0x80) {
    *to++ = static_cast<char>(rest | 0x80);
    rest >>= 7;
  }
  *to++ = static_cast<char>(rest);
  return to;
}

}  // namespace

// Writes the next value's tag where there is one; `room` bytes may then be put behind it. False: nothing may be
// written (already failed).
bool SimpleWriter::lead(Tag tag, std::size_t room) {
  if (failed()) return false;
  out_.prepare(room + 1);
  if (depth_ > 0) {
    Level& level = top();
    if (level.tag == Tag::string_list || level.tag == Tag::string_map) {
      if (tag == Tag::string) return true;
      fail(refused(describe(tag) + " in a list or map of strings"));
      return false;
    }
    if (level.shape == Shape::map && !level.at_value && tag == Tag::null) {
      fail(refused("the key of a map entry is null"));
      return false;
    }
    if (tag != Tag::string) level.only_texts = false;
  }
  out_.push_back(static_cast<char>(tag));
  return true;
}

// After a complete value: a map goes on from key to value and back.
void SimpleWriter::trail() {
  if (depth_ > 0 && top().shape == Shape::map) top().at_value = !top().at_value;
}

void SimpleWriter::null() {
  if (lead(Tag::null, 0)) trail();
}

void SimpleWriter::boolean(bool value) {
  if (!lead(Tag::boolean, 1)) return;
  out_.push_back(value ? 1 : 0);
  trail();
}

void SimpleWriter::whole(std::int64_t value, Tag tag) {
  if (!lead(tag, 10)) return;
  char* const from = out_.prepare(10);
  char* to = from;
  if (tag == Tag::i8 || tag == Tag::i16) {
    to = store_big_endian(to, static_cast<std::uint64_t>(value), tag == Tag::i8 ? 1 : 2);
  } else {
    to = store_zigzag(to, value);
  }
  out_.commit(static_cast<std::size_t>(to - from));
  trail();
}

void SimpleWriter::integer(std::int64_t value, Kind kind) {
  switch (kind) {
    case Kind::i8: return whole(value, Tag::i8);
    case Kind::i16: return whole(value, Tag::i16);
    case Kind::i32: return whole(value, Tag::i32);
    default: return whole(value, Tag::i64);
  }
}

void SimpleWriter::unsigned_integer(std::uint64_t value, Kind kind) {
  if (value > INT64_MAX)
    return fail(refused("the number " + std::to_string(value) + " (" + std::string(to_string(kind)) +
                        ") exceeds 9223372036854775807, the largest integer of this encoding"));
  const auto number = static_cast<std::int64_t>(value);
  switch (kind) {
    case Kind::u8: return whole(number, Tag::i8);
    case Kind::u16: return whole(number, Tag::i32);
    default: return whole(number, Tag::i64);
  }
}

void SimpleWriter::floating(double value, Kind kind) {
  const bool narrow = kind == Kind::f32;
  if (!lead(narrow ? Tag::f32 : Tag::f64, 8)) return;
  const std::uint64_t bits =
      narrow ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : std::bit_cast<std::uint64_t>(value);
  const int size = narrow ? 4 : 8;
  store_big_endian(out_.prepare(8), bits, size);
  out_.commit(static_cast<std::size_t>(size));
  trail();
}

void SimpleWriter::string(std::string_view value) {
  if (!is_utf8(value)) return fail(refused("a text is not UTF-8; declare the member as tenon::Bytes"));
  sized(Tag::string, value);
}

void SimpleWriter::sized(Tag tag, std::string_view content) {
  if (content.size() > max_length)
    return fail(refused(std::to_string(content.size()) + " bytes in one value; the encoding ends at 2 GiB"));
  if (!lead(tag, 4 + content.size())) return;
  store_u32(out_.prepare(4), static_cast<std::uint32_t>(content.size()));
  out_.commit(4);
  out_.append(content);
  trail();
}

// The length stays open until end().
bool SimpleWriter::begin(Level level) {
  if (level.tag != Tag::null) {
    if (!lead(level.tag, 4)) return false;
    out_.prepare(4);
    out_.commit(4);
    ++nested_;
  }
  if (failed()) return false;
  if (nested_ > max_depth || depth_ == static_cast<int>(levels_.size())) {
    fail(refused("a value is nested deeper than 64 levels"));
    return false;
  }
  level.start = out_.size();
  levels_[static_cast<std::size_t>(depth_++)] = level;
  return true;
}

void SimpleWriter::end() {
  if (failed()) return;
  Level& level = top();
  if (level.tag != Tag::null) {
    if (level.only_texts && out_.size() > level.start) drop_inner_tags(level);
    const std::size_t size = out_.size() - level.start;
    if (size > max_length)
      return fail(refused(std::to_string(size) + " bytes in one value; the encoding ends at 2 GiB"));
    store_u32(out_.data() + level.start - 4, static_cast<std::uint32_t>(size));
    --nested_;
  }
  --depth_;
  trail();
}

// Turns tagged texts into a list or map of strings, in place.
void SimpleWriter::drop_inner_tags(Level& level) {
  char* const begin = out_.data() + level.start;
  const char* const stop = out_.data() + out_.size();
  char* to = begin;
  for (const char* from = begin; from < stop;) {
    const std::size_t size = 4 + std::size_t{load_u32(from + 1)};
    std::memmove(to, from + 1, size);
    from += 1 + size;
    to += size;
  }
  out_.resize(level.start + static_cast<std::size_t>(to - begin));
  out_.data()[level.start - 5] = static_cast<char>(level.shape == Shape::map ? Tag::string_map : Tag::string_list);
}

void SimpleWriter::begin_list(std::size_t, const Type* element) {
  begin({.shape = Shape::list,
         .tag = is_text(element) ? Tag::string_list : Tag::list,
         .only_texts = is_dynamic(element)});
}

void SimpleWriter::begin_map(std::size_t, const Type* key, const Type* value) {
  const bool texts = is_text(key) && is_text(value);
  const bool maybe_texts = (is_text(key) || is_dynamic(key)) && (is_text(value) || is_dynamic(value));
  begin({.shape = Shape::map, .tag = texts ? Tag::string_map : Tag::map, .only_texts = maybe_texts && !texts});
}

void SimpleWriter::begin_message(const MessageType& type) {
  bool alone = true;
  for (int i = 0; i < depth_; ++i) alone = alone && levels_[static_cast<std::size_t>(i)].shape == Shape::bare;
  switch (type.form()) {
    case Form::message:
      if (alone && is_void(type)) {
        if (lead(Tag::null, 0)) begin({.shape = Shape::nothing});
        return;
      }
      begin({.shape = Shape::message, .tag = Tag::map});
      return;
    case Form::bare: begin({.shape = Shape::bare}); return;
    case Form::arguments:
      // As somebody's member an argument list is one value, a list.
      begin({.shape = Shape::arguments,
             .tag = depth_ == 0 ? Tag::null : Tag::list,
             .fields = static_cast<std::uint32_t>(type.fields().size())});
      return;
  }
}

// Absent optional arguments keep their place.
void SimpleWriter::fill_arguments(Level& level, std::uint32_t upto) {
  for (; level.count < upto; ++level.count) out_.push_back(static_cast<char>(Tag::null));
}

void SimpleWriter::field(const Field& field) {
  if (failed()) return;
  Level& level = top();
  if (level.shape == Shape::arguments) fill_arguments(level, field.index);
  ++level.count;
  if (level.shape == Shape::message) string(field.name);
}

void SimpleWriter::end_message() {
  if (failed()) return;
  Level& level = top();
  if (level.shape == Shape::arguments) fill_arguments(level, level.fields);
  if (level.shape == Shape::bare && level.count == 0) {  // an absent optional
    --depth_;
    return null();
  }
  end();
}

}  // namespace tenon::simple
