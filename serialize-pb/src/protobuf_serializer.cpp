#include "protobuf_serializer.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>

#include <climits>

#include "wire.hpp"
#include "wire_reader.hpp"
#include "wire_writer.hpp"

namespace tenon::pb {

namespace {

Error cannot_parse(const google::protobuf::Message& message) {
  std::string text = "protobuf: the bytes are no " + message.GetTypeName();
  if (!message.IsInitialized()) text += " (or lack required fields: " + message.InitializationErrorString() + ")";
  return Error(Errc::malformed, std::move(text));
}

bool parse(google::protobuf::Message& message, std::string_view bytes) {
  const int size = static_cast<int>(bytes.size());
  // A level of nesting costs two bytes or more: so few bytes cannot exceed the limit, and this way is the faster one.
  if (bytes.size() <= 2 * max_depth) return message.ParsePartialFromArray(bytes.data(), size);
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()), size);
  stream.SetRecursionLimit(max_depth);
  return message.ParsePartialFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

}  // namespace

std::size_t ProtobufSerializer::size_hint(const MessageType& type, const void* value) const {
  const google::protobuf::Message* message = type.as_protobuf(value);
  return message ? message->ByteSizeLong() : 0;
}

Result<void> ProtobufSerializer::encode(const MessageType& type, const void* value, OutBuffer& out) const {
  if (const google::protobuf::Message* message = type.as_protobuf(value)) {
    if (!message->IsInitialized())
      return Error(Errc::invalid_argument,
                   message->GetTypeName() + " lacks required fields: " + message->InitializationErrorString(),
                   Delivery::not_run);
    const std::size_t size = message->ByteSizeLong();
    if (size > INT_MAX)
      return Error(Errc::invalid_argument,
                   message->GetTypeName() + " has " + std::to_string(size) + " bytes; protobuf ends at 2 GiB",
                   Delivery::not_run);
    message->SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.prepare(size)));
    out.commit(size);
    return {};
  }
  WireWriter writer(out);
  type.write(value, writer);
  if (writer.failed()) return Error(writer.error()).prefix(type.name());
  return {};
}

Result<void> ProtobufSerializer::decode(std::string_view bytes, const MessageType& type, void* value) const {
  if (bytes.size() > INT_MAX)
    return Error(Errc::malformed, std::to_string(bytes.size()) + " bytes are too many for one protobuf message");
  if (google::protobuf::Message* message = type.as_protobuf(value)) {
    if (!parse(*message, bytes) || !message->IsInitialized()) return cannot_parse(*message);
    return {};
  }
  WireReader reader(bytes);
  type.read(value, reader);
  if (reader.failed()) return std::move(reader.error()).prefix(type.name());
  return {};
}

}  // namespace tenon::pb
