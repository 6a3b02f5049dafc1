#include "tenon/type.hpp"

#include "tenon/use.hpp"

namespace tenon {

std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "boolean";
    case Kind::i8: return "i8";
    case Kind::i16: return "i16";
    case Kind::i32: return "i32";
    case Kind::i64: return "i64";
    case Kind::u8: return "u8";
    case Kind::u16: return "u16";
    case Kind::u32: return "u32";
    case Kind::u64: return "u64";
    case Kind::f32: return "f32";
    case Kind::f64: return "f64";
    case Kind::string: return "string";
    case Kind::bytes: return "bytes";
    case Kind::enumeration: return "enumeration";
    case Kind::duration: return "duration";
    case Kind::size: return "size";
    case Kind::list: return "list";
    case Kind::map: return "map";
    case Kind::message: return "message";
    case Kind::value: return "value";
    case Kind::component: return "component";
  }
  return "unknown";
}

MessageType::~MessageType() = default;
google::protobuf::Message* MessageType::as_protobuf(void*) const noexcept { return nullptr; }

const Field* MessageType::find(std::uint32_t number) const noexcept {
  const auto all = fields();
  if (number >= 1 && number <= all.size() && all[number - 1].number == number) return &all[number - 1];
  for (const Field& field : all)
    if (field.number == number) return &field;
  return nullptr;
}
const Field* MessageType::find(std::string_view name) const noexcept {
  for (const Field& field : fields())
    if (field.name == name) return &field;
  return nullptr;
}

Writer::~Writer() = default;
Reader::~Reader() = default;
bool Reader::component(ComponentSlot& slot) {
  fail(Error(Errc::invalid_argument, "a component (" + std::string(slot.kind()) + ") can stand only in a manifest"));
  return false;
}

}  // namespace tenon
