#include "dynamic_request.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "types_option.hpp"

namespace tenon::cli {

namespace {

// Recursion ends where the JSON reader's does: 64 levels.
void narrow_integers(Value& value) {
  if (Value::List* elements = value.list()) {
    for (Value& element : *elements) narrow_integers(element);
  } else if (Value::Map* entries = value.map()) {
    for (Value::Entry& entry : *entries) narrow_integers(entry.second);
  } else if (value.is_integer()) {
    const std::optional<std::int64_t> number = value.integer();
    if (!number) return;
    if (*number >= std::numeric_limits<std::int32_t>::min() && *number <= std::numeric_limits<std::int32_t>::max())
      value = static_cast<std::int32_t>(*number);
    else
      value = *number;
  }
}

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

Error wrong(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

}  // namespace

bool shows_kinds(std::string_view content_type) noexcept { return content_type != "protobuf"; }

bool describes_nothing(const Error& error) noexcept {
  if (error.delivery() != Delivery::not_run) return false;  // tenon.Descriptors itself answered
  return error.code() == Errc::not_found || error.code() == Errc::unimplemented ||
         error.code() == Errc::invalid_argument;
}

Value::List untyped_arguments(Value json) {
  narrow_integers(json);
  if (Value::List* elements = json.list()) return std::move(*elements);
  Value::List one;
  one.push_back(std::move(json));
  return one;
}

void narrow_dynamic(Value& value, const SchemaType& type) {
  if (type.kind == Kind::value) return narrow_integers(value);
  if (Value::List* elements = value.list(); elements && type.kind == Kind::list)
    for (Value& element : *elements) narrow_dynamic(element, type.parts[0]);
  if (Value::Map* entries = value.map(); entries && type.kind == Kind::map)
    for (Value::Entry& entry : *entries) narrow_dynamic(entry.second, type.parts[1]);
}

Result<void> check_arguments(const Value& json, std::span<const SchemaType> types) {
  const std::string wanted = "the JSON must be a list of " + counted(types.size(), "argument");
  const Value::List* arguments = json.list();
  if (!arguments)
    return wrong(wanted + " because --types has " + counted(types.size(), "type") + "; it is " +
                 (json.map() ? "an object" : "a single value"));
  if (arguments->size() != types.size())
    return wrong(wanted + " because --types has " + counted(types.size(), "type") + "; it has " +
                 std::to_string(arguments->size()));
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!(*arguments)[i].is_null() || types[i].optional || types[i].kind == Kind::value) continue;
    const std::string type = to_text(types[i]);
    return wrong("argument " + std::to_string(i + 1) + " is null, but its type is " + type + " (" + type +
                 "? would allow it)");
  }
  return {};
}

}  // namespace tenon::cli
