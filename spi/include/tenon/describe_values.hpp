#pragma once
// How C++ types are values. Included by describe.hpp.

#include <chrono>
#include <cmath>
#include <limits>

#include "tenon/describe.hpp"

namespace tenon {

namespace described {

template <class T>
consteval Kind integer_kind() {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1: return is_signed ? Kind::i8 : Kind::u8;
    case 2: return is_signed ? Kind::i16 : Kind::u16;
    case 4: return is_signed ? Kind::i32 : Kind::u32;
    default: return is_signed ? Kind::i64 : Kind::u64;
  }
}

template <class T>
concept Integer = std::is_integral_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
                  !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> &&
                  !std::is_same_v<T, char32_t>;
template <class T>
concept MapKey = Integer<T> || std::is_same_v<T, bool> || std::is_same_v<T, std::string>;

TENON_SPI void write_value(const Value& value, Writer& writer);
TENON_SPI bool read_value(Value& value, Reader& reader);
/// Fails the reader: the duration read is no whole number of the member's unit, or does not fit it.
TENON_SPI bool bad_duration(Reader& reader, std::chrono::nanoseconds value);

}  // namespace described

template <>
struct ValueTraits<bool> {
  static constexpr Type type() { return {.kind = Kind::boolean}; }
  static void write(bool value, Writer& writer) { writer.boolean(value); }
  static bool read(bool& value, Reader& reader) { return reader.boolean(value); }
};

template <described::Integer T>
struct ValueTraits<T> {
  static constexpr Kind kind = described::integer_kind<T>();
  static constexpr Type type() { return {.kind = kind}; }
  static void write(T value, Writer& writer) {
    if constexpr (std::is_signed_v<T>) {
      writer.integer(value, kind);
    } else {
      writer.unsigned_integer(value, kind);
    }
  }
  static bool read(T& value, Reader& reader) {
    if constexpr (std::is_signed_v<T>) {
      std::int64_t wide = 0;
      if (!reader.integer(wide, kind)) return false;
      value = static_cast<T>(wide);
    } else {
      std::uint64_t wide = 0;
      if (!reader.unsigned_integer(wide, kind)) return false;
      value = static_cast<T>(wide);
    }
    return true;
  }
};

template <class T>
requires std::is_same_v<T, float> || std::is_same_v<T, double>
struct ValueTraits<T> {
  static constexpr Kind kind = std::is_same_v<T, float> ? Kind::f32 : Kind::f64;
  static constexpr Type type() { return {.kind = kind}; }
  static void write(T value, Writer& writer) { writer.floating(value, kind); }
  static bool read(T& value, Reader& reader) {
    double wide = 0;
    if (!reader.floating(wide, kind)) return false;
    value = static_cast<T>(wide);
    return true;
  }
};

template <>
struct ValueTraits<std::string> {
  static constexpr Type type() { return {.kind = Kind::string}; }
  static void write(const std::string& value, Writer& writer) { writer.string(value); }
  static bool read(std::string& value, Reader& reader) { return reader.string(value); }
};

template <>
struct ValueTraits<Bytes> {
  static constexpr Type type() { return {.kind = Kind::bytes}; }
  static void write(const Bytes& value, Writer& writer) { writer.bytes(value.data); }
  static bool read(Bytes& value, Reader& reader) { return reader.bytes(value.data); }
};

template <>
struct ValueTraits<ByteSize> {
  static constexpr Type type() { return {.kind = Kind::size}; }
  static void write(const ByteSize& value, Writer& writer) { writer.unsigned_integer(value.bytes, Kind::size); }
  static bool read(ByteSize& value, Reader& reader) { return reader.unsigned_integer(value.bytes, Kind::size); }
};

template <described::Enum E>
struct ValueTraits<E> {
  static_assert(described::Expand<boost::describe::describe_enumerators<E>>::fit_int32(),
                "enumerators must fit std::int32_t");
  static_assert(sizeof(E) <= 4, "the enumeration's underlying type must not be wider than std::int32_t");
  static constexpr Type type() { return {.kind = Kind::enumeration, .enumeration = &described::enum_constant<E>}; }
  static void write(E value, Writer& writer) {
    writer.enumeration(static_cast<std::int32_t>(value), described::enum_constant<E>);
  }
  static bool read(E& value, Reader& reader) {
    std::int32_t number = 0;
    if (!reader.enumeration(number, described::enum_constant<E>)) return false;
    value = static_cast<E>(number);
    if (static_cast<std::int32_t>(value) == number) return true;
    reader.fail(Error(Errc::malformed, "enumeration " + std::string(described::enum_constant<E>.name) +
                                           " has no room for " + std::to_string(number)));
    return false;
  }
};

template <class Rep, class Period>
struct ValueTraits<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  using Seconds = std::chrono::duration<double>;
  static constexpr Type type() { return {.kind = Kind::duration}; }
  static void write(const Duration& value, Writer& writer) {
    // A Duration can be longer than nanoseconds can say (hours::max()): the longest stands for it.
    const double seconds = std::chrono::duration_cast<Seconds>(value).count();
    if (std::abs(seconds) < 9.2e9) {
      writer.duration(std::chrono::duration_cast<std::chrono::nanoseconds>(value));
    } else {
      writer.duration(seconds > 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds::min());
    }
  }
  static bool read(Duration& value, Reader& reader) {
    std::chrono::nanoseconds exact{0};
    if (!reader.duration(exact)) return false;
    value = std::chrono::duration_cast<Duration>(exact);
    if constexpr (!std::is_floating_point_v<Rep>) {
      if (std::chrono::duration_cast<std::chrono::nanoseconds>(value) != exact)
        return described::bad_duration(reader, exact);
    }
    return true;
  }
};

template <class T, class A>
struct ValueTraits<std::vector<T, A>> {
  static constexpr Type type() { return {.kind = Kind::list, .element = &described::type_constant<T>}; }
  static void write(const std::vector<T, A>& list, Writer& writer) {
    writer.begin_list(list.size(), &type_of<T>());
    for (const auto& element : list) {
      if (writer.failed()) return;
      ValueTraits<T>::write(element, writer);
    }
    writer.end_list();
  }
  static void restart(std::vector<T, A>& list) { list.clear(); }
  static bool read(std::vector<T, A>& list, Reader& reader) {
    if (!reader.begin_list(&type_of<T>())) return false;
    while (reader.next_element()) {
      if constexpr (std::is_same_v<T, bool>) {
        bool element = false;
        if (!reader.boolean(element)) return false;
        list.push_back(element);
      } else {
        if (!ValueTraits<T>::read(list.emplace_back(), reader)) return false;
      }
    }
    return !reader.failed();
  }
};

namespace described {
template <class M>
struct MapTraits {
  using K = typename M::key_type;
  using V = typename M::mapped_type;
  static_assert(MapKey<K>, "map keys are integers, bool or std::string");
  static constexpr Type type() { return {.kind = Kind::map, .element = &type_constant<V>, .key = &type_constant<K>}; }
  static void write(const M& map, Writer& writer) {
    writer.begin_map(map.size(), &type_of<K>(), &type_of<V>());
    for (const auto& [key, value] : map) {
      if (writer.failed()) return;
      ValueTraits<K>::write(key, writer);
      ValueTraits<V>::write(value, writer);
    }
    writer.end_map();
  }
  static void restart(M& map) { map.clear(); }
  static bool read(M& map, Reader& reader) {
    if (!reader.begin_map(&type_of<K>(), &type_of<V>())) return false;
    while (reader.next_entry()) {
      K key{};
      V value{};
      if (!ValueTraits<K>::read(key, reader) || !ValueTraits<V>::read(value, reader)) return false;
      map.insert_or_assign(std::move(key), std::move(value));
    }
    return !reader.failed();
  }
};
}  // namespace described

template <class K, class V, class C, class A>
struct ValueTraits<std::map<K, V, C, A>> : described::MapTraits<std::map<K, V, C, A>> {};
template <class K, class V, class H, class E, class A>
struct ValueTraits<std::unordered_map<K, V, H, E, A>> : described::MapTraits<std::unordered_map<K, V, H, E, A>> {};

template <class T>
struct ValueTraits<std::optional<T>> {
  static constexpr bool takes_null = true;
  static constexpr Type type() {
    Type type = ValueTraits<T>::type();
    type.optional = true;
    return type;
  }
  static bool present(const std::optional<T>& value) { return value.has_value(); }
  static void restart(std::optional<T>& value) { value.reset(); }
  static void write(const std::optional<T>& value, Writer& writer) {
    if (value) {
      ValueTraits<T>::write(*value, writer);
    } else {
      writer.null();
    }
  }
  static bool read(std::optional<T>& value, Reader& reader) {
    if (reader.null()) {
      value.reset();
      return true;
    }
    if (!value) value.emplace();
    return ValueTraits<T>::read(*value, reader);
  }
};

template <Message T>
requires(!std::is_same_v<T, Value>) struct ValueTraits<T> {
  static constexpr Type type() { return {.kind = Kind::message, .message = &MessageFamily<T>::holder.value}; }
  static void write(const T& value, Writer& writer) { message_type<T>().write(&value, writer); }
  static bool read(T& value, Reader& reader) {
    message_type<T>().read(&value, reader);
    return !reader.failed();
  }
};

template <>
struct ValueTraits<Value> {
  static constexpr bool takes_null = true;
  static constexpr Type type() { return {.kind = Kind::value}; }
  static void write(const Value& value, Writer& writer) { described::write_value(value, writer); }
  static bool read(Value& value, Reader& reader) { return described::read_value(value, reader); }
};

template <class K>
struct ValueTraits<Use<K>> {
  static constexpr Type type() { return {.kind = Kind::component, .component_kind = K::kind}; }
  static bool present(const Use<K>& use) { return static_cast<bool>(use); }
  /// A component has no value form: it is written as null.
  static void write(const Use<K>&, Writer& writer) { writer.null(); }
  static bool read(Use<K>& use, Reader& reader) {
    ComponentSlot slot(K::kind);
    if (!reader.component(slot)) return false;
    use.component = std::static_pointer_cast<K>(slot.take());
    return true;
  }
};

}  // namespace tenon
