// Values as texts a manifest could hold.
#include <array>
#include <charconv>
#include <cmath>

#include "tenon/value.hpp"

namespace tenon {

namespace {

struct Unit {
  std::string_view suffix;
  std::int64_t worth;
};
constexpr std::array<Unit, 6> duration_units{{{"h", 3'600'000'000'000},
                                              {"m", 60'000'000'000},
                                              {"s", 1'000'000'000},
                                              {"ms", 1'000'000},
                                              {"us", 1'000},
                                              {"ns", 1}}};
constexpr std::array<Unit, 4> size_units{{{"TiB", std::int64_t{1} << 40},
                                          {"GiB", std::int64_t{1} << 30},
                                          {"MiB", std::int64_t{1} << 20},
                                          {"KiB", std::int64_t{1} << 10}}};

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end.ptr);
}

std::string hex_text(std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "0x";
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

}  // namespace

std::string to_text(std::chrono::nanoseconds value) {
  if (value.count() == 0) return "0s";
  for (const Unit& unit : duration_units) {
    if (value.count() % unit.worth == 0) return std::to_string(value.count() / unit.worth) + std::string(unit.suffix);
  }
  return {};
}

std::string to_text(ByteSize value) {
  for (const Unit& unit : size_units) {
    const auto worth = static_cast<std::uint64_t>(unit.worth);
    if (value.bytes > 0 && value.bytes % worth == 0)
      return std::to_string(value.bytes / worth) + std::string(unit.suffix);
  }
  return std::to_string(value.bytes);
}

std::string to_text(const Value& value, const Type* type) {
  switch (value.kind()) {
    case Kind::null: return {};
    case Kind::boolean: return *value.boolean() ? "true" : "false";
    case Kind::i32:
      if (type && type->enumeration) {
        if (const Enumerator* e = type->enumeration->find(static_cast<std::int32_t>(*value.integer())))
          return std::string(e->name);
      }
      return std::to_string(*value.integer());
    case Kind::i8:
    case Kind::i16:
    case Kind::i64: return std::to_string(*value.integer());
    case Kind::u8:
    case Kind::u16:
    case Kind::u32:
    case Kind::u64: return std::to_string(*value.unsigned_integer());
    case Kind::size: return to_text(ByteSize(*value.unsigned_integer()));
    case Kind::f32: {
      std::array<char, 32> buffer;
      const double wide = *value.floating();
      if (!std::isfinite(wide)) return number_text(wide);
      const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<float>(wide));
      return std::string(buffer.data(), end.ptr);
    }
    case Kind::f64: return number_text(*value.floating());
    case Kind::string: return *value.string();
    case Kind::bytes: return hex_text(*value.bytes());
    case Kind::duration: return to_text(*value.duration());
    case Kind::list: {
      std::string out = "[";
      for (const Value& element : *value.list()) {
        if (out.size() > 1) out += ", ";
        out += to_text(element, type ? type->element : nullptr);
      }
      return out + "]";
    }
    default: {
      std::string out = "{";
      for (const auto& [key, content] : *value.map()) {
        if (out.size() > 1) out += ", ";
        const Type* below = type ? type->element : nullptr;
        if (type && type->message && key.string()) {
          const Field* field = type->message->find(*key.string());
          below = field ? field->type : nullptr;
        }
        out += to_text(key, type ? type->key : nullptr) + ": " + to_text(content, below);
      }
      return out + "}";
    }
  }
}

}  // namespace tenon
