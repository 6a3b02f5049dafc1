#include "wire_writer.hpp"

#include <bit>
#include <climits>
#include <cstring>
#include <string>

#include "tenon/utf8.hpp"
#include "wire_ranges.hpp"

namespace tenon::pb {

namespace {
Error refused(std::string text) {
  return Error(Errc::invalid_argument, std::move(text), Delivery::not_run, Advice::never);
}

int put_varint(char* to, std::uint64_t value) noexcept {
  int size = 0;
  while (value >= 0x80) {
    to[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  to[size++] = static_cast<char>(value);
  return size;
}
}  // namespace

void WireWriter::varint(std::uint64_t value) {
  out_.commit(static_cast<std::size_t>(put_varint(out_.prepare(10), value)));
}

// Begins a length-delimited part; its length, most often one byte, is filled in by close().
bool WireWriter::open(std::uint32_t number) {
  if (open_ == static_cast<int>(starts_.size())) {
    fail(refused("a value is nested deeper than 64 levels"));
    return false;
  }
  tag(number, Wire::bytes);
  starts_[open_++] = out_.size();
  out_.push_back(0);
  return true;
}

void WireWriter::close() {
  const std::size_t start = starts_[--open_];
  const std::size_t size = out_.size() - start - 1;
  if (size > INT_MAX) {
    fail(refused("a message part of more than 2 GiB cannot be sent as protobuf"));
    return;
  }
  char length[10];
  const auto bytes = static_cast<std::size_t>(put_varint(length, size));
  if (bytes > 1) {
    out_.prepare(bytes - 1);
    std::memmove(out_.data() + start + bytes, out_.data() + start + 1, size);
    out_.commit(bytes - 1);
  }
  std::memcpy(out_.data() + start, length, bytes);
}

bool WireWriter::push(Level level) {
  if (depth_ == static_cast<int>(levels_.size()) || open_ > max_depth) {
    fail(refused("a value is nested deeper than 64 levels"));
    return false;
  }
  levels_[depth_++] = level;
  return true;
}

// Opens what has to stand around the next value. False: nothing may be written (already failed).
bool WireWriter::place(Kind kind, Spot& spot) {
  if (failed()) return false;
  if (depth_ == 0) {
    fail(refused("protobuf carries messages; a value outside of one was written"));
    return false;
  }
  Level& top = levels_[depth_ - 1];
  const Type* type = top.type;
  Place where = Place::field;
  spot.number = top.number;
  switch (top.shape) {
    case Shape::message: break;
    case Shape::packed: spot.tagged = false; return true;
    case Shape::repeated: where = Place::element; break;
    case Shape::map:
      if (!top.at_value) {
        where = Place::map_key;
        type = top.key;
        if (!open(top.number)) return false;  // the entry; closed after its value
        spot.number = 1;
      } else {
        where = Place::map_value;
        spot.number = 2;
      }
      break;
  }
  if (is_wrapped(type, where)) {
    if (!open(spot.number)) return false;
    ++spot.opened;
    spot.number = 1;
  }
  if (is_dynamic(type)) {
    if (!open(spot.number)) return false;
    ++spot.opened;
    spot.number = dynamic_number(kind);
  }
  return true;
}

// Closes `opened` parts after a value, and the map entry it ended.
void WireWriter::leave(int opened) {
  for (; opened > 0; --opened) close();
  if (depth_ == 0) return;
  Level& top = levels_[depth_ - 1];
  if (top.shape != Shape::map) return;
  if (top.at_value) close();
  top.at_value = !top.at_value;
}

bool WireWriter::scalar(Kind kind, Wire wire, Spot& spot) {
  if (!place(kind, spot)) return false;
  if (spot.tagged) tag(spot.number, wire);
  return true;
}

void WireWriter::null() {
  if (failed() || depth_ == 0) return;
  const Level& top = levels_[depth_ - 1];
  const bool is_key = top.shape == Shape::map && !top.at_value;
  const Type* type = is_key ? top.key : top.type;
  if (top.shape == Shape::packed ||
      (top.shape == Shape::repeated && !is_dynamic(type) && (!type->optional || is_repeated(type))) ||
      (is_key && !is_dynamic(type))) {
    fail(refused("null cannot be an element or key of this list or map"));
    return;
  }
  Spot spot;
  if (is_dynamic(type)) {
    if (!scalar(Kind::null, Wire::varint, spot)) return;
    varint(0);
  } else if (top.shape == Shape::repeated) {
    if (!place(Kind::null, spot)) return;  // an empty wrapper
  }
  leave(spot.opened);
}

void WireWriter::boolean(bool value) {
  Spot spot;
  if (!scalar(Kind::boolean, Wire::varint, spot)) return;
  varint(value ? 1 : 0);
  leave(spot.opened);
}

void WireWriter::integer(std::int64_t value, Kind kind) {
  Spot spot;
  if (!scalar(kind, Wire::varint, spot)) return;
  varint(static_cast<std::uint64_t>(value));
  leave(spot.opened);
}

void WireWriter::unsigned_integer(std::uint64_t value, Kind kind) {
  Spot spot;
  if (!scalar(kind, Wire::varint, spot)) return;
  varint(value);
  leave(spot.opened);
}

void WireWriter::enumeration(std::int32_t value, const EnumType&) {
  Spot spot;
  if (!scalar(Kind::enumeration, Wire::varint, spot)) return;
  varint(static_cast<std::uint64_t>(std::int64_t{value}));
  leave(spot.opened);
}

void WireWriter::floating(double value, Kind kind) {
  static_assert(std::endian::native == std::endian::little, "fixed-width fields are copied as they lie in memory");
  Spot spot;
  if (kind == Kind::f32) {
    if (!scalar(kind, Wire::fixed32, spot)) return;
    const auto narrow = static_cast<float>(value);
    out_.append(&narrow, sizeof narrow);
  } else {
    if (!scalar(kind, Wire::fixed64, spot)) return;
    out_.append(&value, sizeof value);
  }
  leave(spot.opened);
}

void WireWriter::text(std::string_view value, Kind kind) {
  if (value.size() > INT_MAX) return fail(refused("a string of more than 2 GiB cannot be sent as protobuf"));
  Spot spot;
  if (!scalar(kind, Wire::bytes, spot)) return;
  varint(value.size());
  out_.append(value);
  leave(spot.opened);
}

void WireWriter::string(std::string_view value) {
  if (!is_utf8(value)) {
    const Level* top = depth_ > 0 ? &levels_[depth_ - 1] : nullptr;
    fail(refused("a text" + (top && top->number > 0 ? " in field " + std::to_string(top->number) : std::string()) +
                 " is not UTF-8; declare the member as tenon::Bytes"));
    return;
  }
  text(value, Kind::string);
}
void WireWriter::bytes(std::string_view value) { text(value, Kind::bytes); }

// As google.protobuf.Duration.
void WireWriter::duration(std::chrono::nanoseconds value) {
  Spot spot;
  if (!place(Kind::duration, spot) || !open(spot.number)) return;
  const std::int64_t seconds = value.count() / 1'000'000'000;
  const std::int64_t nanos = value.count() % 1'000'000'000;
  if (seconds != 0) {
    tag(1, Wire::varint);
    varint(static_cast<std::uint64_t>(seconds));
  }
  if (nanos != 0) {
    tag(2, Wire::varint);
    varint(static_cast<std::uint64_t>(nanos));
  }
  close();
  leave(spot.opened);
}

void WireWriter::begin_list(std::size_t size, const Type* element) {
  Spot spot;
  if (!place(Kind::list, spot)) return;
  Level level;
  level.number = spot.number;
  level.type = element;
  level.shape = Shape::repeated;
  level.to_close = spot.opened;
  if (levels_[depth_ - 1].shape != Shape::message && spot.opened == 0)
    return fail(refused("a list cannot be a map key"));
  const Type* announced = levels_[depth_ - 1].type;
  if (is_dynamic(announced) || element == nullptr) {  // a message of its own: repeated dynamic value, field 1
    if (!open(spot.number)) return;
    ++level.to_close;
    level.number = 1;
    level.type = nullptr;
  } else if (size > 0 && is_packed(element)) {
    if (!open(spot.number)) return;
    ++level.to_close;
    level.shape = Shape::packed;
  }
  push(level);
}

void WireWriter::begin_map(std::size_t, const Type* key, const Type* value) {
  Spot spot;
  if (!place(Kind::map, spot)) return;
  Level level;
  level.shape = Shape::map;
  level.number = spot.number;
  level.type = value;
  level.key = key;
  level.to_close = spot.opened;
  if (levels_[depth_ - 1].shape != Shape::message && spot.opened == 0)
    return fail(refused("a map cannot be a map key"));
  if (is_dynamic(levels_[depth_ - 1].type) || key == nullptr) {
    if (!open(spot.number)) return;
    ++level.to_close;
    level.number = 1;
    level.type = level.key = nullptr;
  }
  push(level);
}

void WireWriter::begin_message(const MessageType& type) {
  if (failed()) return;
  Level level;
  if (depth_ > 0) {
    const Level& top = levels_[depth_ - 1];
    if (is_dynamic(top.shape == Shape::map && !top.at_value ? top.key : top.type))
      return fail(refused("a " + std::string(type.name()) + " was written where a dynamic value stands"));
    Spot spot;
    if (!place(Kind::message, spot) || !open(spot.number)) return;
    level.to_close = static_cast<std::uint8_t>(spot.opened + 1);
  }
  push(level);
}

void WireWriter::field(const Field& field) {
  if (failed()) return;
  levels_[depth_ - 1].number = field.number;
  levels_[depth_ - 1].type = field.type;
}

void WireWriter::end() {
  if (failed()) return;
  const int to_close = levels_[--depth_].to_close;
  leave(to_close);
}

}  // namespace tenon::pb
