#include "tenon/schema.hpp"

#include <algorithm>

namespace tenon {

namespace {

void add_enum(Schema& schema, const EnumType& type) {
  for (const SchemaEnum& known : schema.enums)
    if (known.name == type.name) return;
  SchemaEnum& added = schema.enums.emplace_back();
  added.name = type.name;
  for (const Enumerator& e : type.enumerators) added.enumerators.push_back({std::string(e.name), e.number});
}

SchemaType add_type(Schema& schema, const Type& type) {
  SchemaType added;
  added.kind = type.kind;
  added.optional = type.optional;
  if (type.kind == Kind::map) {
    added.parts.push_back(add_type(schema, *type.key));
    added.parts.push_back(add_type(schema, *type.element));
  } else if (type.kind == Kind::list) {
    added.parts.push_back(add_type(schema, *type.element));
  } else if (type.kind == Kind::message) {
    added.type_name = add_message(schema, *type.message);
  } else if (type.kind == Kind::enumeration) {
    added.type_name = type.enumeration->name;
    add_enum(schema, *type.enumeration);
  }
  return added;
}

std::vector<SchemaField> add_fields(Schema& schema, const MessageType& type) {
  std::vector<SchemaField> fields;
  for (const Field& field : type.fields())
    fields.push_back({field.number, std::string(field.name), add_type(schema, *field.type), std::string(field.help)});
  return fields;
}

SchemaMessage* find(Schema& schema, std::string_view name) {
  const auto found = std::ranges::find(schema.messages, name, &SchemaMessage::name);
  return found == schema.messages.end() ? nullptr : &*found;
}

}  // namespace

std::string add_message(Schema& schema, const MessageType& type) {
  const std::string name(type.name());
  if (type.form() == Form::message) {
    if (find(schema, name)) return name;
    // In first, without its fields, so that a message that contains itself ends here.
    schema.messages.push_back({name, Form::message, {}});
    std::vector<SchemaField> fields = add_fields(schema, type);
    find(schema, name)->fields = std::move(fields);
    return name;
  }
  SchemaMessage added{name, type.form(), add_fields(schema, type)};
  for (int i = 2;; ++i) {
    const SchemaMessage* known = find(schema, added.name);
    if (known && *known == added) return added.name;
    if (!known) break;
    added.name = name + "#" + std::to_string(i);
  }
  schema.messages.push_back(added);
  return added.name;
}

SchemaService describe_service(std::string_view name, std::span<const Method> methods) {
  SchemaService service;
  service.name = name;
  for (const Method& method : methods) {
    SchemaMethod& added = service.methods.emplace_back();
    added.name = method.name;
    added.shape = static_cast<std::int32_t>(method.shape);
    added.idempotent = method.idempotent;
    if (method.input) added.input = add_message(service.types, *method.input);
    if (method.output) added.output = add_message(service.types, *method.output);
  }
  return service;
}

}  // namespace tenon
