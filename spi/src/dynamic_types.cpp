// From a received Schema, which is not trusted, to types.
#include <unordered_set>

#include "dynamic_type.hpp"

namespace tenon {

namespace {

Error refused(std::string text) {
  return Error(Errc::invalid_argument, "schema: " + std::move(text), Delivery::not_run);
}
Error too_large(std::string text) { return Error(Errc::too_large, "schema: " + std::move(text), Delivery::not_run); }

bool is_map_key(Kind kind) {
  return kind == Kind::boolean || kind == Kind::string || (kind >= Kind::i8 && kind <= Kind::u64);
}

Result<const Type*> make_type(DynamicTypes::Limits const& limits, const SchemaType& given, int depth, auto& state) {
  if (depth > limits.type_depth) return too_large("a type is nested too deeply");
  const std::size_t parts = given.kind == Kind::map ? 2 : given.kind == Kind::list ? 1 : 0;
  if (given.parts.size() != parts)
    return refused("a " + std::string(to_string(given.kind)) + " has " + std::to_string(given.parts.size()) + " parts");
  Type type;
  type.kind = given.kind;
  type.optional = given.optional;
  switch (given.kind) {
    case Kind::null:
    case Kind::component: return refused("a field of kind " + std::string(to_string(given.kind)) + " cannot be sent");
    case Kind::message: {
      const auto found = state.message_by_name.find(given.type_name);
      if (found == state.message_by_name.end()) return refused("message " + given.type_name + " is not defined");
      type.message = found->second;
      break;
    }
    case Kind::enumeration: {
      const auto found = state.enum_by_name.find(given.type_name);
      if (found == state.enum_by_name.end()) return refused("enum " + given.type_name + " is not defined");
      type.enumeration = found->second;
      break;
    }
    default:
      if (given.kind > Kind::component)
        return refused("kind " + std::to_string(static_cast<int>(given.kind)) + " is unknown");
  }
  for (std::size_t i = 0; i < parts; ++i) {
    Result<const Type*> part = make_type(limits, given.parts[i], depth + 1, state);
    if (!part.ok()) return part;
    if (i + 1 == parts) {
      type.element = *part;
    } else {
      type.key = *part;
      if (!is_map_key(type.key->kind) || type.key->optional) return refused("a map key is a " + type_text(*type.key));
    }
  }
  return &state.types.emplace_back(type);
}

Result<void> check_name(const std::string& name, const DynamicTypes::Limits& limits) {
  if (name.empty()) return refused("a name is empty");
  if (name.size() > limits.name_size) return too_large("a name has " + std::to_string(name.size()) + " bytes");
  return {};
}

Result<void> check_counts(const Schema& schema, const DynamicTypes::Limits& limits) {
  if (schema.messages.size() > limits.messages || schema.enums.size() > limits.messages)
    return too_large(std::to_string(schema.messages.size()) + " messages, " + std::to_string(schema.enums.size()) +
                     " enums");
  std::size_t fields = 0;
  for (const SchemaMessage& message : schema.messages) fields += message.fields.size();
  std::size_t enumerators = 0;
  for (const SchemaEnum& e : schema.enums) enumerators += e.enumerators.size();
  if (fields > limits.fields) return too_large(std::to_string(fields) + " fields");
  if (enumerators > limits.enumerators) return too_large(std::to_string(enumerators) + " enumerators");
  return {};
}

Result<std::vector<Field>> make_fields(const SchemaMessage& given, const DynamicTypes::Limits& limits, auto& state) {
  if (given.form > Form::bare) return refused(given.name + " has an unknown form");
  if (given.form == Form::bare && (given.fields.size() != 1 || given.fields[0].number != 1))
    return refused(given.name + " is a bare value and must have exactly field 1");
  std::vector<Field> fields;
  std::unordered_set<std::string_view> names;
  std::unordered_set<std::uint32_t> numbers;
  for (const SchemaField& field : given.fields) {
    if (auto good = check_name(field.name, limits); !good.ok()) return std::move(good).error();
    if (field.help.size() > limits.name_size)
      return too_large("a help line has " + std::to_string(field.help.size()) + " bytes");
    if (field.number == 0 || field.number > 536870911 || !numbers.insert(field.number).second)
      return refused(given.name + "." + field.name + " has the bad or repeated number " + std::to_string(field.number));
    if (!names.insert(field.name).second) return refused(given.name + " has two members " + field.name);
    Result<const Type*> type = make_type(limits, field.type, 0, state);
    if (!type.ok()) return std::move(type).error().prefix(given.name + "." + field.name);
    fields.push_back({field.number, state.keep(field.name), *type, state.keep(field.help),
                      static_cast<std::uint32_t>(fields.size())});
  }
  return fields;
}

}  // namespace

DynamicTypes::DynamicTypes(std::unique_ptr<State> state) : state_(std::move(state)) {}
DynamicTypes::~DynamicTypes() = default;

Result<std::unique_ptr<DynamicTypes>> DynamicTypes::create(const Schema& schema, const Limits& limits) {
  if (auto good = check_counts(schema, limits); !good.ok()) return std::move(good).error();
  auto state = std::make_unique<State>();
  for (const SchemaEnum& given : schema.enums) {
    if (auto good = check_name(given.name, limits); !good.ok()) return std::move(good).error();
    std::vector<Enumerator>& enumerators = state->enumerators.emplace_back();
    for (const SchemaEnumerator& e : given.enumerators) {
      if (auto good = check_name(e.name, limits); !good.ok()) return std::move(good).error();
      enumerators.push_back({state->keep(e.name), e.number});
    }
    const EnumType& type = state->enums.emplace_back(EnumType{state->keep(given.name), enumerators});
    if (!state->enum_by_name.emplace(type.name, &type).second)
      return refused("enum " + given.name + " is defined twice");
  }
  for (const SchemaMessage& given : schema.messages) {
    if (auto good = check_name(given.name, limits); !good.ok()) return std::move(good).error();
    DynamicType& type = state->messages.emplace_back(given.name, given.form);
    if (!state->message_by_name.emplace(type.name(), &type).second)
      return refused("message " + given.name + " is defined twice");
  }
  std::size_t index = 0;
  for (const SchemaMessage& given : schema.messages) {
    Result<std::vector<Field>> fields = make_fields(given, limits, *state);
    if (!fields.ok()) return fields.error();
    state->messages[index++].set_fields(std::move(*fields));
  }
  return std::unique_ptr<DynamicTypes>(new DynamicTypes(std::move(state)));
}

const MessageType* DynamicTypes::find(std::string_view name) const noexcept {
  const auto found = state_->message_by_name.find(name);
  return found == state_->message_by_name.end() ? nullptr : found->second;
}

}  // namespace tenon
