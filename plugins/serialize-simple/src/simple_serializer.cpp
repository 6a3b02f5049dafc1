#include "simple_serializer.hpp"

#include "simple_reader.hpp"
#include "simple_writer.hpp"

namespace tenon::simple {

std::size_t SimpleSerializer::size_hint(const MessageType& type, const void*) const {
  constexpr std::size_t value = 16;  // tag, length, a short text; or a number
  constexpr std::size_t name = 16;
  return type.fields().size() * (type.form() == Form::message ? name + value : value);
}

Result<void> SimpleSerializer::encode(const MessageType& type, const void* value, OutBuffer& out) const {
  SimpleWriter writer(out);
  type.write(value, writer);
  if (writer.failed()) return Error(writer.error()).prefix(type.name());
  return {};
}

Result<void> SimpleSerializer::decode(std::string_view bytes, const MessageType& type, void* value) const {
  SimpleReader reader(bytes);
  type.read(value, reader);
  reader.finish();
  if (reader.failed()) return std::move(reader.error()).prefix(type.name());
  return {};
}

}  // namespace tenon::simple
