#include "dynamic_type.hpp"

namespace tenon {

namespace {

void misfit(Writer& writer, const Value& value, const Type& type) {
  const std::string text = to_text(value).substr(0, 64);
  writer.fail(Error(Errc::invalid_argument,
                    std::string(to_string(value.kind())) + " " + text + " is no " + type_text(type),
                    Delivery::not_run));
}

bool fits(std::int64_t value, Kind kind) {
  switch (kind) {
    case Kind::i8: return value >= INT8_MIN && value <= INT8_MAX;
    case Kind::i16: return value >= INT16_MIN && value <= INT16_MAX;
    case Kind::i32: return value >= INT32_MIN && value <= INT32_MAX;
    default: return true;
  }
}
bool fits(std::uint64_t value, Kind kind) {
  switch (kind) {
    case Kind::u8: return value <= UINT8_MAX;
    case Kind::u16: return value <= UINT16_MAX;
    case Kind::u32: return value <= UINT32_MAX;
    default: return true;
  }
}

void write_typed(const Value& value, const Type& type, Writer& writer) {
  if (writer.failed()) return;
  if (value.is_null() && type.optional) return writer.null();
  switch (type.kind) {
    case Kind::boolean:
      if (const auto content = value.boolean()) return writer.boolean(*content);
      break;
    case Kind::i8:
    case Kind::i16:
    case Kind::i32:
    case Kind::i64:
      if (const auto content = value.integer(); content && fits(*content, type.kind))
        return writer.integer(*content, type.kind);
      break;
    case Kind::u8:
    case Kind::u16:
    case Kind::u32:
    case Kind::u64:
    case Kind::size:
      if (const auto content = value.unsigned_integer(); content && fits(*content, type.kind))
        return writer.unsigned_integer(*content, type.kind);
      break;
    case Kind::f32:
    case Kind::f64:
      if (const auto content = value.floating()) return writer.floating(*content, type.kind);
      break;
    case Kind::string:
      if (value.string()) return writer.string(*value.string());
      break;
    case Kind::bytes:
      if (value.bytes()) return writer.bytes(*value.bytes());
      break;
    case Kind::duration:
      if (const auto content = value.duration()) return writer.duration(*content);
      break;
    case Kind::enumeration:
      if (const auto number = value.integer(); number && fits(*number, Kind::i32))
        return writer.enumeration(static_cast<std::int32_t>(*number), *type.enumeration);
      if (value.string()) {
        if (const Enumerator* e = type.enumeration->find(*value.string()))
          return writer.enumeration(e->number, *type.enumeration);
      }
      break;
    case Kind::list:
      if (!value.list()) break;
      writer.begin_list(value.size(), type.element);
      for (const Value& element : *value.list()) write_typed(element, *type.element, writer);
      return writer.end_list();
    case Kind::map:
      if (!value.map()) break;
      writer.begin_map(value.size(), type.key, type.element);
      for (const auto& [key, content] : *value.map()) {
        write_typed(key, *type.key, writer);
        write_typed(content, *type.element, writer);
      }
      return writer.end_map();
    case Kind::message: return type.message->write(&value, writer);
    case Kind::value: return value.write(writer);
    default: break;
  }
  misfit(writer, value, type);
}

Value exact_integer(std::int64_t value, Kind kind) {
  switch (kind) {
    case Kind::i8: return static_cast<std::int8_t>(value);
    case Kind::i16: return static_cast<std::int16_t>(value);
    case Kind::i32: return static_cast<std::int32_t>(value);
    default: return value;
  }
}
Value exact_unsigned(std::uint64_t value, Kind kind) {
  switch (kind) {
    case Kind::u8: return static_cast<std::uint8_t>(value);
    case Kind::u16: return static_cast<std::uint16_t>(value);
    case Kind::u32: return static_cast<std::uint32_t>(value);
    case Kind::size: return ByteSize(value);
    default: return value;
  }
}

// Lists and maps append to what `value` already holds: they may arrive in pieces.
bool read_typed(Value& value, const Type& type, Reader& reader) {
  if (type.optional && reader.null()) {
    value = Value();
    return true;
  }
  switch (type.kind) {
    case Kind::boolean: {
      bool content = false;
      if (!reader.boolean(content)) return false;
      value = content;
      return true;
    }
    case Kind::i8:
    case Kind::i16:
    case Kind::i32:
    case Kind::i64: {
      std::int64_t content = 0;
      if (!reader.integer(content, type.kind)) return false;
      value = exact_integer(content, type.kind);
      return true;
    }
    case Kind::u8:
    case Kind::u16:
    case Kind::u32:
    case Kind::u64:
    case Kind::size: {
      std::uint64_t content = 0;
      if (!reader.unsigned_integer(content, type.kind)) return false;
      value = exact_unsigned(content, type.kind);
      return true;
    }
    case Kind::f32:
    case Kind::f64: {
      double content = 0;
      if (!reader.floating(content, type.kind)) return false;
      value = type.kind == Kind::f32 ? Value(static_cast<float>(content)) : Value(content);
      return true;
    }
    case Kind::string:
    case Kind::bytes: {
      std::string content;
      if (!(type.kind == Kind::bytes ? reader.bytes(content) : reader.string(content))) return false;
      value = type.kind == Kind::bytes ? Value(Bytes{std::move(content)}) : Value(std::move(content));
      return true;
    }
    case Kind::duration: {
      std::chrono::nanoseconds content{0};
      if (!reader.duration(content)) return false;
      value = content;
      return true;
    }
    case Kind::enumeration: {
      std::int32_t number = 0;
      if (!reader.enumeration(number, *type.enumeration)) return false;
      value = number;
      return true;
    }
    case Kind::list:
      if (!reader.begin_list(type.element)) return false;
      if (!value.list()) value = Value::of_list();
      while (reader.next_element())
        if (!read_typed(value.push_back({}), *type.element, reader)) return false;
      return !reader.failed();
    case Kind::map:
      if (!reader.begin_map(type.key, type.element)) return false;
      if (!value.map()) value = Value::of_map();
      while (reader.next_entry()) {
        Value::Entry& entry = value.map()->emplace_back();
        if (!read_typed(entry.first, *type.key, reader) || !read_typed(entry.second, *type.element, reader))
          return false;
      }
      return !reader.failed();
    case Kind::message: type.message->read(&value, reader); return !reader.failed();
    case Kind::value: return value.read(reader);
    default: reader.fail(Error(Errc::invalid_argument, "a " + type_text(type) + " cannot be read")); return false;
  }
}

}  // namespace

void DynamicType::set_fields(std::vector<Field> fields) {
  fields_ = std::move(fields);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    by_name_.emplace(fields_[i].name, i);
    by_number_.emplace(fields_[i].number, i);
  }
}

const Field* DynamicType::find(std::uint32_t number) const noexcept {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &fields_[found->second];
}
const Field* DynamicType::find(std::string_view name) const noexcept {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &fields_[found->second];
}

bool DynamicType::check_names(const Value& value, Writer& writer) const {
  for (const Value::Entry& entry : *value.map()) {
    if (entry.first.string() && find(*entry.first.string())) continue;
    std::string known;
    for (const Field& field : fields_) known += (known.empty() ? "" : ", ") + std::string(field.name);
    writer.fail(Error(
        Errc::invalid_argument,
        name_ + " has no member \"" + to_text(entry.first).substr(0, 64) + "\" (members: " + known.substr(0, 512) + ")",
        Delivery::not_run));
    return false;
  }
  return true;
}

void DynamicType::write(const void* object, Writer& writer) const {
  const Value& value = *static_cast<const Value*>(object);
  writer.begin_message(*this);
  if (writer.failed()) return;
  const Value::List* list = form_ == Form::arguments ? value.list() : nullptr;
  if (list && list->size() > fields_.size())
    return writer.fail(
        Error(Errc::invalid_argument, std::to_string(list->size()) + " arguments for " + name_, Delivery::not_run));
  if (form_ != Form::bare && !list && !value.is_null()) {
    if (!value.map())
      return writer.fail(Error(Errc::invalid_argument,
                               std::string(to_string(value.kind())) + " where a " + name_ + " is wanted",
                               Delivery::not_run));
    if (!check_names(value, writer)) return;
  }
  for (const Field& field : fields_) {
    if (writer.failed()) return;
    const Value* member = nullptr;
    if (form_ == Form::bare) {
      member = &value;
    } else if (list) {
      member = field.index < list->size() ? &(*list)[field.index] : nullptr;
    } else {
      member = value.find(field.name);
    }
    const bool absent = !member || (member->is_null() && field.type->kind != Kind::value);
    if (absent && form_ == Form::arguments && !field.type->optional)
      return writer.fail(Error(Errc::invalid_argument, name_ + ": argument " + std::string(field.name) + " is missing",
                               Delivery::not_run));
    if (absent) continue;
    writer.field(field);
    write_typed(*member, *field.type, writer);
  }
  writer.end_message();
}

void DynamicType::read(void* object, Reader& reader) const {
  Value& value = *static_cast<Value*>(object);
  if (!reader.begin_message(*this)) return;
  if (form_ != Form::bare && !value.map()) value = Value::of_map();
  while (const Field* field = reader.next_field(*this)) {
    if (!field->type->optional && field->type->kind != Kind::value && reader.null()) continue;
    Value& member = form_ == Form::bare ? value : value[field->name];
    if (!read_typed(member, *field->type, reader)) return;
  }
}

}  // namespace tenon
