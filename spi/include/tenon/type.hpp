#pragma once
// The data model: how a value is seen by any serializer, by the manifest and by the CLI. Payloads do not depend on
// serializers and serializers do not depend on message families; this header is where both meet.
//
// A value is written to a Writer and read from a Reader. Both walk the same small set of kinds, in the manner of
// serde; each field has a number and a name, so that binary and text formats share one traversal.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tenon/result.hpp"

namespace google::protobuf {
class Message;
}

namespace tenon {

class MessageType;
class Reader;
class Writer;

/// What a value is. Integer kinds are exact: an i32 is never silently an i64.
enum class Kind : std::uint8_t {
  null,
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f32,
  f64,
  string,       ///< UTF-8 text
  bytes,        ///< any bytes
  enumeration,  ///< a named int32
  duration,     ///< std::chrono::nanoseconds
  size,         ///< a number of bytes (ByteSize): text formats accept "64KiB"
  list,
  map,
  message,
  value,      ///< dynamic: a tenon::Value
  component,  ///< Use<Kind>: only a manifest has one
};

TENON_SPI std::string_view to_string(Kind kind) noexcept;

/// One named number of an enumeration.
struct Enumerator {
  std::string_view name;
  std::int32_t number;
};

/// An enumeration's name and its enumerators, in declaration order. Lives for ever.
struct EnumType {
  std::string_view name;
  std::span<const Enumerator> enumerators;
  /// The enumerator of that name / number, or null.
  const Enumerator* find(std::string_view by_name) const noexcept {
    for (const Enumerator& e : enumerators)
      if (e.name == by_name) return &e;
    return nullptr;
  }
  const Enumerator* find(std::int32_t by_number) const noexcept {
    for (const Enumerator& e : enumerators)
      if (e.number == by_number) return &e;
    return nullptr;
  }
};

/// The type of a field, list element or map entry. Pointees live as long as the Type.
struct Type {
  Kind kind = Kind::null;
  bool optional = false;                    ///< may be absent (null)
  const Type* element = nullptr;            ///< list: its elements; map: its values
  const Type* key = nullptr;                ///< map: its keys (an integer, boolean or string kind)
  const MessageType* message = nullptr;     ///< message
  const EnumType* enumeration = nullptr;    ///< enumeration
  std::string_view component_kind = {};     ///< component: which kind of plugin ("filter")
};

/// One member of a message.
struct Field {
  std::uint32_t number = 0;  ///< >= 1, unique in its message; the wire identity in binary formats
  std::string_view name;     ///< unique in its message; the wire identity in text formats
  const Type* type = nullptr;
  std::string_view help = {};  ///< one line, may be empty
  std::uint32_t index = 0;     ///< position in MessageType::fields()
};

/// How the parts of a type are laid out by formats that can show the difference.
enum class Form : std::uint8_t {
  message,    ///< fields
  arguments,  ///< the argument list of a function: JSON shows an array, other formats concatenate
  bare,       ///< one value without a name: JSON shows the value itself. Binary: as a message with field 1
};

/// A family-independent view of a class of objects: generated protobuf classes, described structs, argument lists,
/// bare values and types made at run time all appear as one of these.
/// Threads: all functions are const and thread-safe on different objects. Ownership: a MessageType outlives every
/// object and Payload of its type (statics, or owned by what made it at run time).
class TENON_SPI MessageType {
 public:
  MessageType() = default;
  MessageType(const MessageType&) = delete;
  MessageType& operator=(const MessageType&) = delete;
  virtual ~MessageType();

  /// Fully qualified with dots ("demo.HelloRequest"). For a bare value the kind's name; for an argument list "(…)".
  virtual std::string_view name() const noexcept = 0;
  virtual Form form() const noexcept = 0;
  /// Members in declaration order. form bare: exactly one, number 1.
  virtual std::span<const Field> fields() const noexcept = 0;

  /// A default object; destroy() gives it back. clear() makes it default again, keeping memory for reuse.
  virtual void* create() const = 0;
  virtual void destroy(void* object) const noexcept = 0;
  virtual void clear(void* object) const = 0;
  /// Assigns *from to *to; move may leave *from in any valid state.
  virtual void copy(const void* from, void* to) const = 0;
  virtual void move(void* from, void* to) const = 0;

  /// Describes the object to `writer` / fills a cleared object from `reader`. Failure is the writer's or reader's
  /// (failed()); a half-filled object is valid but meaningless.
  virtual void write(const void* object, Writer& writer) const = 0;
  virtual void read(void* object, Reader& reader) const = 0;

  /// The native protobuf object, for the fast path of serializers that know protobuf; null for other families.
  virtual google::protobuf::Message* as_protobuf(void* object) const noexcept;
  const google::protobuf::Message* as_protobuf(const void* object) const noexcept {
    return as_protobuf(const_cast<void*>(object));
  }

  /// The member with that number / name, or null. The default scans fields().
  virtual const Field* find(std::uint32_t number) const noexcept;
  virtual const Field* find(std::string_view name) const noexcept;
};

/// Receives a value, part by part. Implemented by serializers.
/// Errors are sticky: after fail() the rest of the walk is ignored and the encode call reports the first error.
/// Threads: one thread at a time. Does not block.
class TENON_SPI Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  virtual ~Writer();

  virtual void null() = 0;
  virtual void boolean(bool value) = 0;
  virtual void integer(std::int64_t value, Kind kind) = 0;            ///< kind: i8 … i64
  virtual void unsigned_integer(std::uint64_t value, Kind kind) = 0;  ///< kind: u8 … u64, size
  virtual void floating(double value, Kind kind) = 0;                 ///< kind: f32, f64
  virtual void string(std::string_view value) = 0;
  virtual void bytes(std::string_view value) = 0;
  virtual void enumeration(std::int32_t value, const EnumType& type) = 0;
  virtual void duration(std::chrono::nanoseconds value) = 0;

  /// Exactly `size` values follow, then end_list(). `element` may be null for lists of mixed dynamic values.
  virtual void begin_list(std::size_t size, const Type* element) = 0;
  virtual void end_list() = 0;
  /// Exactly `size` pairs follow (key, value, key, value …), then end_map(). Types as in begin_list.
  virtual void begin_map(std::size_t size, const Type* key, const Type* value) = 0;
  virtual void end_map() = 0;
  /// Then for each present member field(f) and its value; an absent optional member is simply not announced.
  virtual void begin_message(const MessageType& type) = 0;
  virtual void field(const Field& field) = 0;
  virtual void end_message() = 0;

  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  bool failed() const noexcept { return static_cast<bool>(error_); }
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

class ComponentSlot;

/// Delivers a value, part by part, to code that knows the type it wants. Implemented by serializers and the manifest.
/// Functions return false when the value is not of the wanted kind or the input is broken; the error is kept (sticky)
/// and everything after it returns false. Implementations check every length and count against the bytes that remain
/// before anything is allocated, and nesting against a limit (64).
/// Threads: one thread at a time. Does not block.
class TENON_SPI Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader();

  /// The next value's kind when the format is self-describing (integers: the exact kind where the format shows it,
  /// else i64 or u64; text that may be an enum or duration: string); Kind::value when it is not and only the wanted
  /// type can tell.
  virtual Kind peek() = 0;
  /// Consumes a null if one is next and says so; otherwise consumes nothing.
  virtual bool null() = 0;
  virtual bool boolean(bool& value) = 0;
  /// Range is checked against `kind`.
  virtual bool integer(std::int64_t& value, Kind kind) = 0;
  virtual bool unsigned_integer(std::uint64_t& value, Kind kind) = 0;
  virtual bool floating(double& value, Kind kind) = 0;
  virtual bool string(std::string& value) = 0;
  virtual bool bytes(std::string& value) = 0;
  /// Text formats accept the name or the number; unknown numbers are kept (open enumerations), unknown names fail.
  virtual bool enumeration(std::int32_t& value, const EnumType& type) = 0;
  virtual bool duration(std::chrono::nanoseconds& value) = 0;

  /// begin_list, then while next_element() one value. In formats with repeated fields a list may arrive in several
  /// pieces: readers of a list member append. `element` may be null (dynamic).
  virtual bool begin_list(const Type* element) = 0;
  virtual bool next_element() = 0;
  /// begin_map, then while next_entry() a key and a value.
  virtual bool begin_map(const Type* key, const Type* value) = 0;
  virtual bool next_entry() = 0;
  /// begin_message, then while next_field(type) returns a member, read its value. Unknown members are handled here by
  /// the format's own policy (skipped on the wire, refused in a manifest); null means the end or an error.
  virtual bool begin_message(const MessageType& type) = 0;
  virtual const Field* next_field(const MessageType& type) = 0;
  /// Self-describing formats: inside a map whose keys are unknown, the next entry's key as text. Used by Value.
  virtual bool key(std::string& value) = 0;
  /// A Use<Kind>: builds or finds the component. Only the manifest can; others fail.
  virtual bool component(ComponentSlot& slot);

  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  bool failed() const noexcept { return static_cast<bool>(error_); }
  Error& error() noexcept { return error_; }

 private:
  Error error_;
};

/// A number of bytes; in a manifest "512", "64KiB", "4MiB".
struct ByteSize {
  std::uint64_t bytes = 0;
  constexpr ByteSize() = default;
  constexpr ByteSize(std::uint64_t n) : bytes(n) {}  // NOLINT(google-explicit-constructor)
  constexpr operator std::uint64_t() const noexcept { return bytes; }  // NOLINT(google-explicit-constructor)
};

}  // namespace tenon
