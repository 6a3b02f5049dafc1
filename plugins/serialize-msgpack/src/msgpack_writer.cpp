#include "msgpack_writer.hpp"

#include <bit>
#include <string>

#include "tenon/utf8.hpp"

namespace tenon::msgpack {

namespace {

// A message of more members than this takes a wider head. Its count is known at its end only, when the head's size
// must have been chosen; most members of most messages are there.
constexpr std::uint32_t fix_members = 15;

Error refused(std::string text) {
  return Error(Errc::invalid_argument, "msgpack: " + std::move(text), Delivery::not_run, Advice::never);
}

char* store_big_endian(char* to, std::uint64_t value, int bytes) noexcept {
  for (int i = bytes - 1; i >= 0; --i) *to++ = static_cast<char>(value >> (8 * i));
  return to;
}

}  // namespace

// A format byte and the `width` bytes of its number.
void MsgpackWriter::put(std::uint8_t first, std::uint64_t number, int width) {
  char* const to = out_.prepare(9);
  *to = static_cast<char>(first);
  store_big_endian(to + 1, number, width);
  out_.commit(static_cast<std::size_t>(width) + 1);
}

// After a complete value: a map goes on from key to value and back.
void MsgpackWriter::trail() {
  if (depth_ > 0 && top().shape == Shape::map) top().at_value = !top().at_value;
}

bool MsgpackWriter::at_key() const { return depth_ > 0 && top().shape == Shape::map && !top().at_value; }

void MsgpackWriter::null() {
  if (failed()) return;
  if (at_key()) return fail(refused("the key of a map entry is null"));
  put(0xc0, 0, 0);
  trail();
}

void MsgpackWriter::boolean(bool value) {
  if (failed()) return;
  put(value ? 0xc3 : 0xc2, 0, 0);
  trail();
}

void MsgpackWriter::integer(std::int64_t value, Kind kind) {
  if (value >= 0) return unsigned_integer(static_cast<std::uint64_t>(value), kind);
  if (failed()) return;
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= -32) {
    put(static_cast<std::uint8_t>(bits), 0, 0);
  } else if (value >= INT8_MIN) {
    put(0xd0, bits, 1);
  } else if (value >= INT16_MIN) {
    put(0xd1, bits, 2);
  } else if (value >= INT32_MIN) {
    put(0xd2, bits, 4);
  } else {
    put(0xd3, bits, 8);
  }
  trail();
}

void MsgpackWriter::unsigned_integer(std::uint64_t value, Kind) {
  if (failed()) return;
  if (value < 0x80) {
    put(static_cast<std::uint8_t>(value), 0, 0);
  } else if (value <= UINT8_MAX) {
    put(0xcc, value, 1);
  } else if (value <= UINT16_MAX) {
    put(0xcd, value, 2);
  } else if (value <= UINT32_MAX) {
    put(0xce, value, 4);
  } else {
    put(0xcf, value, 8);
  }
  trail();
}

void MsgpackWriter::floating(double value, Kind kind) {
  if (failed()) return;
  if (kind == Kind::f32) {
    put(0xca, std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
  } else {
    put(0xcb, std::bit_cast<std::uint64_t>(value), 8);
  }
  trail();
}

// A length or count in the shortest form; `first16` + 1 is the format byte of the form with 4 bytes. A fix_limit of 0
// or a first8 of 0: there is no such form.
bool MsgpackWriter::sized(std::uint64_t size, std::uint8_t fix, std::uint64_t fix_limit, std::uint8_t first8,
                          std::uint8_t first16) {
  if (size > UINT32_MAX) {
    fail(refused(std::to_string(size) + " bytes or elements in one value; the format ends at 4294967295"));
    return false;
  }
  if (size < fix_limit) {
    put(static_cast<std::uint8_t>(fix | size), 0, 0);
  } else if (size <= UINT8_MAX && first8 != 0) {
    put(first8, size, 1);
  } else if (size <= UINT16_MAX) {
    put(first16, size, 2);
  } else {
    put(static_cast<std::uint8_t>(first16 + 1), size, 4);
  }
  return true;
}

void MsgpackWriter::text(std::string_view value) {
  if (!sized(value.size(), 0xa0, 32, 0xd9, 0xda)) return;
  out_.append(value);
  trail();
}

void MsgpackWriter::string(std::string_view value) {
  if (failed()) return;
  if (!is_utf8(value)) return fail(refused("a text is not UTF-8; declare the member as tenon::Bytes"));
  text(value);
}

void MsgpackWriter::bytes(std::string_view value) {
  if (failed() || !sized(value.size(), 0, 0, 0xc4, 0xc5)) return;
  out_.append(value);
  trail();
}

bool MsgpackWriter::begin(Level level, bool nested) {
  if (failed()) return false;
  if (nested && at_key()) {
    fail(refused("a list, map or message is no map key here"));
    return false;
  }
  nested_ += nested ? 1 : 0;
  if (nested_ > max_depth || depth_ == static_cast<int>(levels_.size())) {
    fail(refused("a value is nested deeper than 64 levels"));
    return false;
  }
  levels_[static_cast<std::size_t>(depth_++)] = level;
  return true;
}

void MsgpackWriter::end() {
  if (failed()) return;
  --depth_;
  --nested_;
  trail();
}

void MsgpackWriter::begin_list(std::size_t size, const Type*) {
  if (begin({.shape = Shape::list}, true)) sized(size, 0x90, 16, 0, 0xdc);
}

void MsgpackWriter::begin_map(std::size_t size, const Type*, const Type*) {
  if (begin({.shape = Shape::map}, true)) sized(size, 0x80, 16, 0, 0xde);
}

void MsgpackWriter::begin_message(const MessageType& type) {
  const auto fields = static_cast<std::uint32_t>(type.fields().size());
  switch (type.form()) {
    case Form::bare: begin({.shape = Shape::bare}, false); return;
    case Form::arguments:
      if (begin({.shape = Shape::arguments, .fields = fields}, true)) sized(fields, 0x90, 16, 0, 0xdc);
      return;
    case Form::message:
      if (!begin({.shape = Shape::message, .fields = fields, .start = out_.size()}, true)) return;
      if (fields <= fix_members) {
        put(0x80, 0, 0);
      } else if (fields <= UINT16_MAX) {
        put(0xde, 0, 2);
      } else {
        put(0xdf, 0, 4);
      }
      return;
  }
}

// Absent optional arguments keep their place.
void MsgpackWriter::fill_arguments(Level& level, std::uint32_t upto) {
  for (; level.count < upto; ++level.count) put(0xc0, 0, 0);
}

void MsgpackWriter::field(const Field& field) {
  if (failed()) return;
  Level& level = top();
  if (level.shape == Shape::arguments) fill_arguments(level, field.index);
  ++level.count;
  if (level.shape == Shape::message) text(field.name);
}

void MsgpackWriter::end_message() {
  if (failed()) return;
  Level& level = top();
  switch (level.shape) {
    case Shape::bare: --depth_; return level.count == 0 ? null() : trail();  // without a member: an absent optional
    case Shape::arguments: fill_arguments(level, level.fields); break;
    default: {
      char* const head = out_.data() + level.start;
      if (level.fields <= fix_members) {
        *head = static_cast<char>(0x80 | level.count);
      } else {
        store_big_endian(head + 1, level.count, level.fields <= UINT16_MAX ? 2 : 4);
      }
    }
  }
  end();
}

}  // namespace tenon::msgpack
