#include "msgpack_serializer.hpp"

#include "msgpack_reader.hpp"
#include "msgpack_writer.hpp"

namespace tenon::msgpack {

std::size_t MsgpackSerializer::size_hint(const MessageType& type, const void*) const {
  constexpr std::size_t value = 12;  // a short text, or a number
  constexpr std::size_t name = 12;
  return 4 + type.fields().size() * (type.form() == Form::message ? name + value : value);
}

Result<void> MsgpackSerializer::encode(const MessageType& type, const void* value, OutBuffer& out) const {
  MsgpackWriter writer(out);
  type.write(value, writer);
  if (writer.failed()) return Error(writer.error()).prefix(type.name());
  return {};
}

Result<void> MsgpackSerializer::decode(std::string_view bytes, const MessageType& type, void* value) const {
  MsgpackReader reader(bytes);
  type.read(value, reader);
  reader.finish();
  if (reader.failed()) return std::move(reader.error()).prefix(type.name());
  return {};
}

}  // namespace tenon::msgpack
