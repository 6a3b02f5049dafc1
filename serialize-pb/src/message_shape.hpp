#pragma once
// A protobuf descriptor as Tenon's fields, and the walk over a message by reflection.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <deque>
#include <functional>
#include <vector>

#include "tenon/type.hpp"

namespace tenon::pb {

/// Fields, types and enumerations of one descriptor. Threads: const functions concurrently.
class MessageShape {
 public:
  /// Gives the MessageType of a field's message.
  using TypeOf = std::function<const MessageType&(const google::protobuf::Descriptor&)>;
  MessageShape(const google::protobuf::Descriptor& descriptor, const TypeOf& type_of);

  std::span<const Field> fields() const noexcept { return fields_; }
  const google::protobuf::FieldDescriptor& proto(const Field& field) const noexcept {
    return *descriptor_.field(static_cast<int>(field.index));
  }
  const Field* find(std::uint32_t number) const noexcept;
  const Field* find(std::string_view name) const noexcept;

  void write(const google::protobuf::Message& message, const MessageType& type, Writer& writer) const;
  void read(google::protobuf::Message& message, const MessageType& type, Reader& reader) const;

 private:
  const Type* make_type(const google::protobuf::FieldDescriptor& field, bool element, const TypeOf& type_of);

  const google::protobuf::Descriptor& descriptor_;
  std::vector<Field> fields_;
  std::deque<Type> types_;
  std::deque<EnumType> enumerations_;
  std::deque<std::vector<Enumerator>> enumerators_;
};

}  // namespace tenon::pb
