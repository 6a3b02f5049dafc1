#include "message_shape.hpp"

namespace tenon::pb {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

Kind kind_of(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return Kind::i32;
    case FieldDescriptor::CPPTYPE_INT64: return Kind::i64;
    case FieldDescriptor::CPPTYPE_UINT32: return Kind::u32;
    case FieldDescriptor::CPPTYPE_UINT64: return Kind::u64;
    case FieldDescriptor::CPPTYPE_DOUBLE: return Kind::f64;
    case FieldDescriptor::CPPTYPE_FLOAT: return Kind::f32;
    case FieldDescriptor::CPPTYPE_BOOL: return Kind::boolean;
    case FieldDescriptor::CPPTYPE_ENUM: return Kind::enumeration;
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES ? Kind::bytes : Kind::string;
    case FieldDescriptor::CPPTYPE_MESSAGE: return Kind::message;
  }
  return Kind::null;
}

// One value: a singular field (index < 0) or an element of a repeated one.
void write_value(const Message& message, const Reflection& r, const FieldDescriptor& f, int i, const Type& type,
                 Writer& writer) {
  const bool one = i < 0;
  const FieldDescriptor* const field = &f;
  std::string room;
  switch (type.kind) {
    case Kind::i32:
      return writer.integer(one ? r.GetInt32(message, field) : r.GetRepeatedInt32(message, field, i), type.kind);
    case Kind::i64:
      return writer.integer(one ? r.GetInt64(message, field) : r.GetRepeatedInt64(message, field, i), type.kind);
    case Kind::u32:
      return writer.unsigned_integer(one ? r.GetUInt32(message, field) : r.GetRepeatedUInt32(message, field, i),
                                     type.kind);
    case Kind::u64:
      return writer.unsigned_integer(one ? r.GetUInt64(message, field) : r.GetRepeatedUInt64(message, field, i),
                                     type.kind);
    case Kind::f32:
      return writer.floating(one ? r.GetFloat(message, field) : r.GetRepeatedFloat(message, field, i), type.kind);
    case Kind::f64:
      return writer.floating(one ? r.GetDouble(message, field) : r.GetRepeatedDouble(message, field, i), type.kind);
    case Kind::boolean: return writer.boolean(one ? r.GetBool(message, field) : r.GetRepeatedBool(message, field, i));
    case Kind::enumeration:
      return writer.enumeration(one ? r.GetEnumValue(message, field) : r.GetRepeatedEnumValue(message, field, i),
                                *type.enumeration);
    case Kind::string:
    case Kind::bytes: {
      const std::string& text =
          one ? r.GetStringReference(message, field, &room) : r.GetRepeatedStringReference(message, field, i, &room);
      return type.kind == Kind::bytes ? writer.bytes(text) : writer.string(text);
    }
    default: {
      const Message& nested = one ? r.GetMessage(message, field) : r.GetRepeatedMessage(message, field, i);
      return type.message->write(type.message->as_protobuf(const_cast<Message*>(&nested)), writer);
    }
  }
}

// Reads one value into a singular field, or appends it to a repeated one.
bool read_value(Message& message, const Reflection& r, const FieldDescriptor& f, bool one, const Type& type,
                Reader& reader) {
  const FieldDescriptor* const field = &f;
  switch (type.kind) {
    case Kind::i32:
    case Kind::i64: {
      std::int64_t value = 0;
      if (!reader.integer(value, type.kind)) return false;
      const auto narrow = static_cast<std::int32_t>(value);
      if (type.kind == Kind::i32) {
        one ? r.SetInt32(&message, field, narrow) : r.AddInt32(&message, field, narrow);
      } else {
        one ? r.SetInt64(&message, field, value) : r.AddInt64(&message, field, value);
      }
      return true;
    }
    case Kind::u32:
    case Kind::u64: {
      std::uint64_t value = 0;
      if (!reader.unsigned_integer(value, type.kind)) return false;
      const auto narrow = static_cast<std::uint32_t>(value);
      if (type.kind == Kind::u32) {
        one ? r.SetUInt32(&message, field, narrow) : r.AddUInt32(&message, field, narrow);
      } else {
        one ? r.SetUInt64(&message, field, value) : r.AddUInt64(&message, field, value);
      }
      return true;
    }
    case Kind::f32:
    case Kind::f64: {
      double value = 0;
      if (!reader.floating(value, type.kind)) return false;
      const auto narrow = static_cast<float>(value);
      if (type.kind == Kind::f32) {
        one ? r.SetFloat(&message, field, narrow) : r.AddFloat(&message, field, narrow);
      } else {
        one ? r.SetDouble(&message, field, value) : r.AddDouble(&message, field, value);
      }
      return true;
    }
    case Kind::boolean: {
      bool value = false;
      if (!reader.boolean(value)) return false;
      one ? r.SetBool(&message, field, value) : r.AddBool(&message, field, value);
      return true;
    }
    case Kind::enumeration: {
      std::int32_t value = 0;
      if (!reader.enumeration(value, *type.enumeration)) return false;
      one ? r.SetEnumValue(&message, field, value) : r.AddEnumValue(&message, field, value);
      return true;
    }
    case Kind::string:
    case Kind::bytes: {
      std::string value;
      if (!(type.kind == Kind::bytes ? reader.bytes(value) : reader.string(value))) return false;
      one ? r.SetString(&message, field, std::move(value)) : r.AddString(&message, field, std::move(value));
      return true;
    }
    default: {
      Message* nested = one ? r.MutableMessage(&message, field) : r.AddMessage(&message, field);
      type.message->read(nested, reader);
      return !reader.failed();
    }
  }
}

}  // namespace

MessageShape::MessageShape(const Descriptor& descriptor, const TypeOf& type_of) : descriptor_(descriptor) {
  fields_.reserve(static_cast<std::size_t>(descriptor.field_count()));
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    fields_.push_back({static_cast<std::uint32_t>(field.number()),
                       field.name(),
                       make_type(field, false, type_of),
                       {},
                       static_cast<std::uint32_t>(i)});
  }
}

const Type* MessageShape::make_type(const FieldDescriptor& field, bool element, const TypeOf& type_of) {
  Type& type = types_.emplace_back();
  if (!element && field.is_map()) {
    type.kind = Kind::map;
    type.key = make_type(*field.message_type()->map_key(), true, type_of);
    type.element = make_type(*field.message_type()->map_value(), true, type_of);
    return &type;
  }
  if (!element && field.is_repeated()) {
    type.kind = Kind::list;
    type.element = make_type(field, true, type_of);
    return &type;
  }
  type.kind = kind_of(field);
  type.optional = !element && field.has_presence() && !field.is_required();
  if (type.kind == Kind::message) type.message = &type_of(*field.message_type());
  if (type.kind == Kind::enumeration) {
    const google::protobuf::EnumDescriptor& declared = *field.enum_type();
    std::vector<Enumerator>& enumerators = enumerators_.emplace_back();
    for (int i = 0; i < declared.value_count(); ++i)
      enumerators.push_back({declared.value(i)->name(), declared.value(i)->number()});
    type.enumeration = &enumerations_.emplace_back(EnumType{declared.full_name(), enumerators});
  }
  return &type;
}

const Field* MessageShape::find(std::uint32_t number) const noexcept {
  const FieldDescriptor* field =
      number <= FieldDescriptor::kMaxNumber ? descriptor_.FindFieldByNumber(static_cast<int>(number)) : nullptr;
  return field ? &fields_[static_cast<std::size_t>(field->index())] : nullptr;
}
const Field* MessageShape::find(std::string_view name) const noexcept {
  for (const Field& field : fields_)
    if (field.name == name) return &field;
  return nullptr;
}

void MessageShape::write(const Message& message, const MessageType& type, Writer& writer) const {
  const Reflection& reflection = *message.GetReflection();
  writer.begin_message(type);
  for (const Field& field : fields_) {
    if (writer.failed()) return;
    const FieldDescriptor& declared = proto(field);
    if (field.type->kind == Kind::list) {
      const int size = reflection.FieldSize(message, &declared);
      writer.field(field);
      writer.begin_list(static_cast<std::size_t>(size), field.type->element);
      for (int i = 0; i < size && !writer.failed(); ++i)
        write_value(message, reflection, declared, i, *field.type->element, writer);
      writer.end_list();
    } else if (field.type->kind == Kind::map) {
      const int size = reflection.FieldSize(message, &declared);
      writer.field(field);
      writer.begin_map(static_cast<std::size_t>(size), field.type->key, field.type->element);
      for (int i = 0; i < size && !writer.failed(); ++i) {
        const Message& entry = reflection.GetRepeatedMessage(message, &declared, i);
        const Reflection& inner = *entry.GetReflection();
        write_value(entry, inner, *declared.message_type()->map_key(), -1, *field.type->key, writer);
        write_value(entry, inner, *declared.message_type()->map_value(), -1, *field.type->element, writer);
      }
      writer.end_map();
    } else if (!declared.has_presence() || reflection.HasField(message, &declared)) {
      writer.field(field);
      write_value(message, reflection, declared, -1, *field.type, writer);
    }
  }
  writer.end_message();
}

void MessageShape::read(Message& message, const MessageType& type, Reader& reader) const {
  const Reflection& reflection = *message.GetReflection();
  if (!reader.begin_message(type)) return;
  while (const Field* field = reader.next_field(type)) {
    if (reader.null()) continue;
    const FieldDescriptor& declared = proto(*field);
    if (field->type->kind == Kind::list) {
      if (!reader.begin_list(field->type->element)) return;
      while (reader.next_element())
        if (!read_value(message, reflection, declared, false, *field->type->element, reader)) return;
    } else if (field->type->kind == Kind::map) {
      if (!reader.begin_map(field->type->key, field->type->element)) return;
      while (reader.next_entry()) {
        Message& entry = *reflection.AddMessage(&message, &declared);
        const Reflection& inner = *entry.GetReflection();
        if (!read_value(entry, inner, *declared.message_type()->map_key(), true, *field->type->key, reader) ||
            !read_value(entry, inner, *declared.message_type()->map_value(), true, *field->type->element, reader))
          return;
      }
    } else if (!read_value(message, reflection, declared, true, *field->type, reader)) {
      return;
    }
  }
}

}  // namespace tenon::pb
