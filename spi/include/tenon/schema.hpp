#pragma once
// Types as values: what a service says about its methods so that a caller without generated code (`tenon call`, the
// console, a gateway) can make its messages at run time.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/describe.hpp"
#include "tenon/method.hpp"
#include "tenon/value.hpp"

namespace tenon {

BOOST_DESCRIBE_ENUM(Kind, null, boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, string, bytes, enumeration,
                    duration, size, list, map, message, value, component)
BOOST_DESCRIBE_ENUM(Form, message, arguments, bare)

/// A Type.
struct SchemaType {
  Kind kind = Kind::null;
  bool optional = false;
  std::string type_name;          ///< message, enumeration: its name in the Schema
  std::vector<SchemaType> parts;  ///< list: its element; map: its key, its value
  bool operator==(const SchemaType&) const = default;
};
BOOST_DESCRIBE_STRUCT(SchemaType, (), (kind, optional, type_name, parts))

struct SchemaField {
  std::uint32_t number = 0;
  std::string name;
  SchemaType type;
  std::string help;
  bool operator==(const SchemaField&) const = default;
};
BOOST_DESCRIBE_STRUCT(SchemaField, (), (number, name, type, help))

struct SchemaMessage {
  std::string name;
  Form form = Form::message;
  std::vector<SchemaField> fields;
  bool operator==(const SchemaMessage&) const = default;
};
BOOST_DESCRIBE_STRUCT(SchemaMessage, (), (name, form, fields))

struct SchemaEnumerator {
  std::string name;
  std::int32_t number = 0;
  bool operator==(const SchemaEnumerator&) const = default;
};
BOOST_DESCRIBE_STRUCT(SchemaEnumerator, (), (name, number))

struct SchemaEnum {
  std::string name;
  std::vector<SchemaEnumerator> enumerators;
  bool operator==(const SchemaEnum&) const = default;
};
BOOST_DESCRIBE_STRUCT(SchemaEnum, (), (name, enumerators))

/// A closed set of types: every name mentioned is defined.
struct Schema {
  std::vector<SchemaMessage> messages;
  std::vector<SchemaEnum> enums;
  Bytes file_descriptor_set;  ///< google.protobuf.FileDescriptorSet of generated messages; may be empty
  bool operator==(const Schema&) const = default;
};
BOOST_DESCRIBE_STRUCT(Schema, (), (messages, enums, file_descriptor_set))

struct SchemaMethod {
  std::string name;
  std::int32_t shape = 0;  ///< a Shape
  bool idempotent = false;
  std::string input;  ///< names in SchemaService::types
  std::string output;
  bool operator==(const SchemaMethod&) const = default;
};
BOOST_DESCRIBE_STRUCT(SchemaMethod, (), (name, shape, idempotent, input, output))

struct SchemaService {
  std::string name;
  std::vector<SchemaMethod> methods;
  Schema types;
  bool operator==(const SchemaService&) const = default;
};
BOOST_DESCRIBE_STRUCT(SchemaService, (), (name, methods, types))

/// Adds `type` and everything it mentions. Returns the name it has there: its own, with "#2" and so on behind it when
/// an argument list or bare value of that name but other fields is already there.
TENON_SPI std::string add_message(Schema& schema, const MessageType& type);

/// A service's methods and all their types.
TENON_SPI SchemaService describe_service(std::string_view name, std::span<const Method> methods);

/// Types made from a Schema. Their objects are Value: a map by field name (for Form::bare the value itself, for
/// Form::arguments a list in order is accepted as well when writing). When written, a value must fit its field exactly
/// (any integer kind whose number fits, an enumerator's name or number, an integer for a float); members that are
/// missing from the map are not announced, names that are no field fail. When read, the map has the fields that
/// arrived, with the fields' exact kinds, enumerations as i32.
/// Threads: const functions concurrently. Ownership: owns its MessageTypes; must outlive objects and payloads of them.
class TENON_SPI DynamicTypes {
 public:
  /// How much a received schema may hold.
  struct Limits {
    std::size_t messages = 10000;
    std::size_t fields = 100000;       ///< of all messages together
    std::size_t enumerators = 100000;  ///< of all enums together
    std::size_t name_size = 1024;      ///< bytes of one name
    int type_depth = 16;               ///< list of list of …
  };
  /// Fails with: invalid_argument (a name or number twice, an undefined name, a kind that cannot be sent, …),
  /// too_large (limits).
  static Result<std::unique_ptr<DynamicTypes>> create(const Schema& schema, const Limits& limits);
  static Result<std::unique_ptr<DynamicTypes>> create(const Schema& schema) { return create(schema, Limits()); }
  ~DynamicTypes();

  /// The type with that name in the schema; null: there is none.
  const MessageType* find(std::string_view name) const noexcept;

 private:
  struct State;
  explicit DynamicTypes(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tenon
