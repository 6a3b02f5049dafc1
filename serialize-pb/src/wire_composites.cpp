// WireReader: messages, lists, maps, and stepping over what is unknown.
#include <array>
#include <string>

#include "wire_ranges.hpp"
#include "wire_reader.hpp"

namespace tenon::pb {

bool skip_value(const char*& at, const char* end, Wire wire, std::uint32_t number) noexcept {
  std::array<std::uint32_t, max_depth> groups;
  int depth = 0;
  while (true) {
    std::uint64_t value = 0;
    switch (wire) {
      case Wire::varint:
        if (!parse_varint(at, end, value)) return false;
        break;
      case Wire::fixed64:
        if (end - at < 8) return false;
        at += 8;
        break;
      case Wire::fixed32:
        if (end - at < 4) return false;
        at += 4;
        break;
      case Wire::bytes:
        if (!parse_varint(at, end, value) || value > static_cast<std::uint64_t>(end - at)) return false;
        at += value;
        break;
      case Wire::begin_group:
        if (depth == max_depth) return false;
        groups[static_cast<std::size_t>(depth++)] = number;
        break;
      case Wire::end_group:
        if (depth == 0 || groups[static_cast<std::size_t>(--depth)] != number) return false;
        break;
    }
    if (depth == 0) return true;
    if (!parse_tag(at, end, number, wire)) return false;
  }
}

bool WireReader::push(Level level) {
  // Only composites with bytes of their own count as nesting, as in any protobuf parser.
  if (!level.one) ++nested_;
  if (nested_ > max_depth + 1 || depth_ == static_cast<int>(levels_.size())) return broken("nesting deeper than 64");
  levels_[static_cast<std::size_t>(depth_++)] = level;
  end_ = level.end;
  slot_ = Slot();
  return true;
}

// Leaves the innermost composite, which is complete, and goes on behind it.
bool WireReader::pop() {
  const Level& level = levels_[static_cast<std::size_t>(--depth_)];
  if (!level.one) --nested_;
  at_ = level.resume;
  if (depth_ > 0) end_ = levels_[static_cast<std::size_t>(depth_ - 1)].end;
  slot_ = Slot();
  return done_value();
}

bool WireReader::begin_message(const MessageType& type) {
  Level level;
  if (depth_ == 0) {
    level.end = level.resume = end_;
    return push(level);
  }
  if (!resolve()) return false;
  if (slot_.known) return broken("a dynamic value stands where a " + std::string(type.name()) + " is wanted");
  const char* part_end = at_;
  if (!slot_.missing) {
    if (slot_.wire != Wire::bytes) return broken("a " + std::string(type.name()) + " is not length-delimited");
    if (!length(part_end)) return false;
  }
  level.end = part_end;
  level.resume = slot_.resume ? slot_.resume : part_end;
  return push(level);
}

const Field* WireReader::next_field(const MessageType& type) {
  if (failed()) return nullptr;
  while (at_ < end_) {
    std::uint32_t number = 0;
    Wire wire{};
    if (!read_tag(number, wire)) return nullptr;
    if (const Field* field = type.find(number)) {
      const Type& wanted = *field->type;
      const bool wrapped = is_wrapped(&wanted, Place::field);
      Wire expected = is_dynamic(&wanted) || wrapped ? Wire::bytes : wire_of(wanted.kind);
      bool fits = wire == expected;
      if (wanted.kind == Kind::list && !wrapped && is_packed(wanted.element))
        fits = fits || wire == wire_of(wanted.element->kind);
      if (fits) {
        set_slot(&wanted, wire, Place::field);
        return field;
      }
    }
    if (!skip(wire, number)) return nullptr;
  }
  pop();
  return nullptr;
}

bool WireReader::begin_list(const Type* element) {
  if (!resolve()) return false;
  Level level;
  level.shape = Shape::list;
  level.type = element;
  if (slot_.known && slot_.kind != Kind::list)
    return broken("a list is wanted, a dynamic value of another kind stands");
  if (slot_.missing) {
    level.end = at_;
    level.resume = slot_.resume ? slot_.resume : at_;
    return push(level);
  }
  if (slot_.known || slot_.wrapped || is_dynamic(slot_.type)) {
    if (slot_.wire != Wire::bytes || !length(level.end)) return broken("a nested list is no message");
    level.resume = slot_.resume ? slot_.resume : level.end;
    return push(level);
  }
  level.one = true;
  level.end = end_;
  if (is_packed(element) && slot_.wire == Wire::bytes) {
    if (!length(level.packed_end)) return false;
    level.packed = true;
    level.end = level.packed_end;
    level.resume = level.packed_end;
  }
  level.wire = slot_.wire;
  return push(level);
}

bool WireReader::next_element() {
  if (failed()) return false;
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  const Wire natural =
      is_dynamic(top.type) || is_wrapped(top.type, Place::element) ? Wire::bytes : wire_of(top.type->kind);
  while (true) {
    if (top.packed) {
      if (at_ < top.packed_end) {
        end_ = top.packed_end;
        set_slot(top.type, natural, Place::element);
        return true;
      }
      top.packed = false;
      end_ = top.end;
      if (top.one) top.done = true;
    }
    if (top.one) {
      if (top.done) break;
      top.done = true;
      set_slot(top.type, top.wire, Place::element);
      return true;
    }
    if (at_ >= top.end) break;
    std::uint32_t number = 0;
    Wire wire{};
    if (!read_tag(number, wire)) return false;
    if (number == 1 && wire == natural) {
      set_slot(top.type, wire, Place::element);
      return true;
    }
    if (number == 1 && wire == Wire::bytes && is_packed(top.type)) {
      if (!length(top.packed_end)) return false;
      top.packed = true;
    } else if (!skip(wire, number)) {
      return false;
    }
  }
  top.resume = top.one ? at_ : top.resume;
  pop();
  return false;
}

bool WireReader::begin_map(const Type* key, const Type* value) {
  if (!resolve()) return false;
  Level level;
  level.shape = Shape::map;
  level.type = value;
  level.key = key;
  if (slot_.known && slot_.kind != Kind::map) return broken("a map is wanted, a dynamic value of another kind stands");
  if (slot_.missing) {
    level.end = at_;
    level.resume = slot_.resume ? slot_.resume : at_;
    return push(level);
  }
  if (slot_.wire != Wire::bytes) return broken("a map entry is no message");
  const bool nested = slot_.known || slot_.wrapped || is_dynamic(slot_.type);
  level.one = !nested;
  if (!length(level.end)) return false;
  level.resume = slot_.resume ? slot_.resume : level.end;
  return push(level);
}

// Finds key and value of the entry that lies from at_ to entry_end, and makes the key the next value.
bool WireReader::open_entry(const char* entry_end) {
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  const char* const outer = std::exchange(end_, entry_end);
  const char* key_at = nullptr;
  Wire key_wire{};
  top.value_at = nullptr;
  while (at_ < end_) {
    std::uint32_t number = 0;
    Wire wire{};
    if (!read_tag(number, wire)) return false;
    if (number == 1) {
      key_at = at_;
      key_wire = wire;
    } else if (number == 2) {
      top.value_at = at_;
      top.value_wire = wire;
    }
    if (!skip(wire, number)) return false;
  }
  end_ = outer;
  top.entry_end = entry_end;
  top.entry_state = 1;
  set_slot(top.key, key_wire, Place::map_key);
  slot_.missing = key_at == nullptr;
  slot_.resume = entry_end;
  at_ = key_at ? key_at : entry_end;
  return true;
}

bool WireReader::next_entry() {
  if (failed()) return false;
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  if (top.one) {
    if (!top.done) {
      top.done = true;
      return open_entry(top.end);
    }
  } else {
    while (at_ < top.end) {
      std::uint32_t number = 0;
      Wire wire{};
      if (!read_tag(number, wire)) return false;
      if (number != 1 || wire != Wire::bytes) {
        if (!skip(wire, number)) return false;
        continue;
      }
      const char* entry_end = nullptr;
      return length(entry_end) && open_entry(entry_end);
    }
  }
  pop();
  return false;
}

}  // namespace tenon::pb
