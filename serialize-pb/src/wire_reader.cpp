#include "wire_reader.hpp"

#include <climits>
#include <cstring>
#include <limits>
#include <string>

#include "tenon/utf8.hpp"
#include "wire_ranges.hpp"

namespace tenon::pb {

bool WireReader::broken(std::string what) {
  fail(Error(Errc::malformed, "protobuf: " + what + " at byte " + std::to_string(at_ - begin_), Delivery::not_run));
  return false;
}

bool WireReader::varint(std::uint64_t& value) {
  if (parse_varint(at_, end_, value)) return true;
  return broken("a varint is cut off or longer than 10 bytes");
}

// Reads a length and returns where the bytes it announces end.
bool WireReader::length(const char*& end) {
  std::uint64_t size = 0;
  if (!varint(size)) return false;
  if (size > static_cast<std::uint64_t>(end_ - at_))
    return broken("a length of " + std::to_string(size) + " with " + std::to_string(end_ - at_) + " bytes left");
  end = at_ + size;
  return true;
}

bool WireReader::read_tag(std::uint32_t& number, Wire& wire) {
  if (parse_tag(at_, end_, number, wire)) return true;
  return broken("a field tag is cut off, zero or of unknown wire type");
}

bool WireReader::skip(Wire wire, std::uint32_t number) {
  if (skip_value(at_, end_, wire, number)) return true;
  return broken("field " + std::to_string(number) + " is cut off or badly nested");
}

// Scans the fields up to `end` for the last one numbered low..high; `where` stays null if there is none.
bool WireReader::find_last(const char* end, std::uint32_t low, std::uint32_t high, std::uint32_t& number, Wire& wire,
                           const char*& where) {
  const char* const outer = std::exchange(end_, end);
  while (at_ < end_) {
    std::uint32_t found = 0;
    Wire found_wire{};
    if (!read_tag(found, found_wire)) return false;
    if (found >= low && found <= high) {
      number = found;
      wire = found_wire;
      where = at_;
    }
    if (!skip(found_wire, found)) return false;
  }
  end_ = outer;
  return true;
}

void WireReader::set_slot(const Type* type, Wire wire, Place place) {
  slot_ = Slot();
  slot_.type = type;
  slot_.wire = wire;
  slot_.dynamic = is_dynamic(type);
  slot_.wrapped = is_wrapped(type, place);
}

// Opens the dynamic value's or optional element's message around the slot's value. Afterwards at_ stands at the value,
// or slot_.missing is set.
bool WireReader::resolve() {
  if (failed()) return false;
  if (!slot_.dynamic && !(slot_.wrapped && !is_repeated(slot_.type))) return true;
  const bool dynamic = slot_.dynamic;
  if (!slot_.missing) {
    if (slot_.wire != Wire::bytes) return broken("a dynamic or optional element is no message");
    const char* part_end = nullptr;
    if (!length(part_end)) return false;
    const char* where = nullptr;
    std::uint32_t number = 0;
    const std::uint32_t last = dynamic ? dynamic_number(Kind::map) : 1;
    if (!find_last(part_end, 1, last, number, slot_.wire, where)) return false;
    if (!slot_.resume) slot_.resume = part_end;
    if (where) {
      at_ = where;
      if (dynamic) slot_.kind = static_cast<Kind>(number - 1);
      if (dynamic && slot_.wire != wire_of(slot_.kind))
        return broken("a dynamic value's wire type does not fit its kind");
    } else {
      slot_.missing = true;
      at_ = part_end;
    }
  }
  slot_.known = dynamic;
  slot_.dynamic = slot_.wrapped = false;
  return true;
}

Kind WireReader::peek() {
  if (!resolve()) return Kind::null;
  if (slot_.known) return slot_.missing ? Kind::null : slot_.kind;
  return Kind::value;
}

bool WireReader::null() {
  if (!slot_.dynamic && !slot_.known && !slot_.missing && !slot_.wrapped) return false;
  if (!resolve()) return false;
  if (!slot_.missing) {
    if (!slot_.known || slot_.kind != Kind::null) return false;
    std::uint64_t ignored = 0;
    if (!varint(ignored)) return false;
    return done_value();
  }
  const bool is_absent = slot_.known || (slot_.type && slot_.type->optional);
  return is_absent && done_value();
}

// Before a scalar: opens what is around it and checks the wire type. `zero`: it is missing and takes its zero value.
bool WireReader::ready(Wire wanted, bool& zero) {
  if (!resolve()) return false;
  zero = slot_.missing;
  if (zero || slot_.wire == wanted) return true;
  return broken("a value's wire type does not fit");
}

// After a value: goes on behind it, and from a map entry's key to its value.
bool WireReader::done_value() {
  if (slot_.resume) at_ = slot_.resume;
  slot_ = Slot();
  if (depth_ == 0) return true;
  Level& top = levels_[depth_ - 1];
  if (top.shape != Shape::map) return true;
  if (top.entry_state == 1) {
    top.entry_state = 2;
    set_slot(top.type, top.value_wire, Place::map_value);
    slot_.missing = top.value_at == nullptr;
    slot_.resume = top.entry_end;
    at_ = top.value_at ? top.value_at : top.entry_end;
  } else {
    top.entry_state = 0;
    at_ = top.entry_end;
  }
  return true;
}

bool WireReader::boolean(bool& value) {
  bool zero = false;
  std::uint64_t raw = 0;
  if (!ready(Wire::varint, zero) || (!zero && !varint(raw))) return false;
  value = raw != 0;
  return done_value();
}

bool WireReader::integer(std::int64_t& value, Kind kind) {
  bool zero = false;
  std::uint64_t raw = 0;
  if (!ready(Wire::varint, zero) || (!zero && !varint(raw))) return false;
  const auto exact = static_cast<std::int64_t>(raw);
  const int bits = kind == Kind::i8 ? 8 : kind == Kind::i16 ? 16 : kind == Kind::i32 ? 32 : 64;
  if (bits < 64 && (exact >= std::int64_t{1} << (bits - 1) || exact < -(std::int64_t{1} << (bits - 1))))
    return broken(std::to_string(exact) + " is out of range for " + std::string(to_string(kind)));
  value = exact;
  return done_value();
}

bool WireReader::unsigned_integer(std::uint64_t& value, Kind kind) {
  bool zero = false;
  std::uint64_t raw = 0;
  if (!ready(Wire::varint, zero) || (!zero && !varint(raw))) return false;
  const int bits = kind == Kind::u8 ? 8 : kind == Kind::u16 ? 16 : kind == Kind::u32 ? 32 : 64;
  if (bits < 64 && raw >> bits != 0)
    return broken(std::to_string(raw) + " is out of range for " + std::string(to_string(kind)));
  value = raw;
  return done_value();
}

bool WireReader::enumeration(std::int32_t& value, const EnumType& type) {
  std::int64_t wide = 0;
  if (!integer(wide, Kind::i64)) return false;
  if (wide < INT32_MIN || wide > INT32_MAX)
    return broken(std::to_string(wide) + " is out of range for enumeration " + std::string(type.name));
  value = static_cast<std::int32_t>(wide);
  return true;
}

bool WireReader::floating(double& value, Kind kind) {
  bool zero = false;
  const Wire wire = kind == Kind::f32 ? Wire::fixed32 : Wire::fixed64;
  if (!ready(wire, zero)) return false;
  value = 0;
  if (!zero) {
    const std::size_t size = kind == Kind::f32 ? 4 : 8;
    if (static_cast<std::size_t>(end_ - at_) < size) return broken("a floating-point number is cut off");
    if (kind == Kind::f32) {
      float narrow = 0;
      std::memcpy(&narrow, at_, size);
      value = narrow;
    } else {
      std::memcpy(&value, at_, size);
    }
    at_ += size;
  }
  return done_value();
}

bool WireReader::scalar_bytes(std::string& value) {
  bool zero = false;
  if (!ready(Wire::bytes, zero)) return false;
  value.clear();
  if (zero) return true;
  const char* part_end = nullptr;
  if (!length(part_end)) return false;
  value.assign(at_, part_end);
  at_ = part_end;
  return true;
}

bool WireReader::string(std::string& value) {
  if (!scalar_bytes(value)) return false;
  if (!is_utf8(value)) return broken("a text is not UTF-8");
  return done_value();
}

bool WireReader::bytes(std::string& value) { return scalar_bytes(value) && done_value(); }

bool WireReader::duration(std::chrono::nanoseconds& value) {
  bool zero = false;
  if (!ready(Wire::bytes, zero)) return false;
  std::uint64_t seconds = 0;
  std::uint64_t nanos = 0;
  if (!zero) {
    const char* part_end = nullptr;
    if (!length(part_end)) return false;
    const char* const outer = std::exchange(end_, part_end);
    while (at_ < end_) {
      std::uint32_t number = 0;
      Wire wire{};
      if (!read_tag(number, wire)) return false;
      const bool wanted = (number == 1 || number == 2) && wire == Wire::varint;
      if (wanted ? !varint(number == 1 ? seconds : nanos) : !skip(wire, number)) return false;
    }
    end_ = outer;
  }
  const auto s = static_cast<std::int64_t>(seconds);
  const auto n = static_cast<std::int64_t>(nanos);
  if (n <= -1'000'000'000 || n >= 1'000'000'000 || (s > 0 && n < 0) || (s < 0 && n > 0))
    return broken("a duration's parts do not agree");
  std::int64_t total = 0;
  if (__builtin_mul_overflow(s, std::int64_t{1'000'000'000}, &total) || __builtin_add_overflow(total, n, &total))
    return broken("a duration of " + std::to_string(s) + " seconds is longer than 292 years");
  value = std::chrono::nanoseconds(total);
  return done_value();
}

}  // namespace tenon::pb
