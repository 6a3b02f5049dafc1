#pragma once
// A value whose type is known only at run time: free-form options, generic calls, what JSON says.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/describe.hpp"

namespace tenon {

/// Null, a scalar of exact kind, a list, or a map. A map keeps the order in which its entries were added.
/// Threads: as a container: const functions concurrently. Ownership: owns everything below it; destruction does not
/// recurse, however deep the nesting.
class TENON_SPI Value {
 public:
  using List = std::vector<Value>;
  using Entry = std::pair<Value, Value>;
  using Map = std::vector<Entry>;

  Value() noexcept = default;
  Value(std::nullptr_t) noexcept {}                                      // NOLINT
  Value(bool value) noexcept : content_(value), kind_(Kind::boolean) {}  // NOLINT
  template <described::Integer T>
  Value(T value) noexcept : kind_(described::integer_kind<T>()) {  // NOLINT
    if constexpr (std::is_signed_v<T>) {
      content_ = std::int64_t{value};
    } else {
      content_ = std::uint64_t{value};
    }
  }
  Value(float value) noexcept : content_(double{value}), kind_(Kind::f32) {}              // NOLINT
  Value(double value) noexcept : content_(value), kind_(Kind::f64) {}                     // NOLINT
  Value(std::string value) noexcept : content_(std::move(value)), kind_(Kind::string) {}  // NOLINT
  Value(std::string_view value) : content_(std::string(value)), kind_(Kind::string) {}    // NOLINT
  Value(const char* value) : Value(std::string_view(value)) {}                            // NOLINT
  Value(Bytes value) noexcept : content_(std::move(value.data)), kind_(Kind::bytes) {}    // NOLINT
  Value(ByteSize value) noexcept : content_(value.bytes), kind_(Kind::size) {}            // NOLINT
  Value(std::chrono::nanoseconds value) noexcept                                          // NOLINT
      : content_(std::int64_t{value.count()}), kind_(Kind::duration) {}
  static Value of_list(List elements = {});
  static Value of_map(Map entries = {});

  Value(const Value&) = default;
  Value& operator=(const Value&) = default;
  Value(Value&& other) noexcept;
  Value& operator=(Value&& other) noexcept;
  ~Value();

  Kind kind() const noexcept { return kind_; }
  bool is_null() const noexcept { return kind_ == Kind::null; }
  bool is_integer() const noexcept { return kind_ >= Kind::i8 && kind_ <= Kind::u64; }

  /// The content, or null when the value is of another kind. integer() and unsigned_integer() convert between integer
  /// kinds when the number fits, floating() also takes integers.
  std::optional<bool> boolean() const noexcept;
  std::optional<std::int64_t> integer() const noexcept;
  std::optional<std::uint64_t> unsigned_integer() const noexcept;
  std::optional<double> floating() const noexcept;
  std::optional<std::chrono::nanoseconds> duration() const noexcept;
  const std::string* string() const noexcept;
  const std::string* bytes() const noexcept;
  const List* list() const noexcept { return std::get_if<List>(&content_); }
  List* list() noexcept { return std::get_if<List>(&content_); }
  const Map* map() const noexcept { return std::get_if<Map>(&content_); }
  Map* map() noexcept { return std::get_if<Map>(&content_); }

  /// Elements or entries; 0 for scalars.
  std::size_t size() const noexcept;
  /// The value of the entry with that key (text keys compare as strings), or null.
  const Value* find(std::string_view key) const noexcept;
  const Value* find_key(const Value& key) const noexcept;
  /// The entry's value, added (null) when missing; a null value becomes a map. REQUIRES: null or map.
  Value& operator[](std::string_view key);
  /// Appends; a null value becomes a list. REQUIRES: null or list.
  Value& push_back(Value element);

  /// Equal kinds and contents; maps compare in order.
  bool operator==(const Value& other) const noexcept;

  void write(Writer& writer) const;
  /// Replaces the content by the next value of a self-describing reader, keeping the kinds the format shows.
  bool read(Reader& reader);

  /// What the object shows of itself: a message becomes a map by field name, an argument list too, a bare value
  /// itself, an enumeration its number as i32.
  /// Fails with: invalid_argument (nested deeper than 64).
  static Result<Value> of(const MessageType& type, const void* object);

 private:
  void take_children(List& pending) noexcept;
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Map> content_;
  Kind kind_ = Kind::null;
};

/// The value as a manifest would hold it: "1500ms", "64KiB", "[1, 2]", "{a: 1}". `type` (may be null) gives
/// enumerations their names.
TENON_SPI std::string to_text(const Value& value, const Type* type = nullptr);
/// The shortest exact text of a duration in one unit: "1500ms", "2h", "0s".
TENON_SPI std::string to_text(std::chrono::nanoseconds value);
/// "64KiB", "1500".
TENON_SPI std::string to_text(ByteSize value);

namespace described {

/// A Value as a message on its own: one bare dynamic value.
class TENON_SPI ValueType final : public MessageType {
 public:
  constexpr ValueType() = default;
  ~ValueType() override;
  std::string_view name() const noexcept override { return "value"; }
  Form form() const noexcept override { return Form::bare; }
  std::span<const Field> fields() const noexcept override;
  void* create() const override { return new Value; }
  void destroy(void* object) const noexcept override { delete static_cast<Value*>(object); }
  void clear(void* object) const override { *static_cast<Value*>(object) = Value(); }
  void copy(const void* from, void* to) const override { *static_cast<Value*>(to) = *static_cast<const Value*>(from); }
  void move(void* from, void* to) const override { *static_cast<Value*>(to) = std::move(*static_cast<Value*>(from)); }
  void write(const void* object, Writer& writer) const override;
  void read(void* object, Reader& reader) const override;
};
TENON_SPI extern Eternal<ValueType> value_type_holder;

}  // namespace described

template <>
struct MessageFamily<Value> {
  static constexpr Eternal<described::ValueType>& holder = described::value_type_holder;
};

}  // namespace tenon
