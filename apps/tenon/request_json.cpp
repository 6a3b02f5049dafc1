#include "request_json.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "dynamic_request.hpp"

namespace tenon::cli {

namespace {

// "first_name" and its JSON form "firstName" are the same member.
std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The path of the first member of `json` that `type` does not have; serializers skip those, but people mistype them.
std::string unknown_member(const Value& json, const MessageType& type) {
  const Value::Map* members = json.map();
  if (!members || type.form() != Form::message || type.name().starts_with("google.protobuf.")) return {};
  for (const auto& [key, value] : *members) {
    const std::string* name = key.string();
    if (!name) continue;
    const auto fields = type.fields();
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& candidate) { return folded(candidate.name) == folded(*name); });
    if (field == fields.end()) return *name;
    if (field->type->kind != Kind::message) continue;
    if (const std::string inner = unknown_member(value, *field->type->message); !inner.empty())
      return *name + "." + inner;
  }
  return {};
}

}  // namespace

Result<void> read_request(const Serializer& json, std::string_view text, const std::vector<SchemaType>* types,
                          const Object& request) {
  const auto wrong = [&request](const std::string& why) {
    return Error(Errc::config, "the JSON is no " + std::string(request.type().name()) + ": " + why, Delivery::not_run,
                 Advice::never);
  };
  Value value;
  if (Result<void> read = json.decode(text, message_type<Value>(), &value); !read.ok())
    return wrong(read.error().text());
  if (types) {
    if (Result<void> fits = check_arguments(value, *types); !fits.ok()) return fits;
  }
  if (Result<void> read = json.decode(text, request.type(), request.get()); !read.ok())
    return wrong(read.error().text());
  if (types) {
    Value& arguments = *static_cast<Value*>(request.get());
    for (std::size_t i = 0; i < types->size(); ++i)
      narrow_dynamic(arguments[request.type().fields()[i].name], (*types)[i]);
  }
  if (const std::string unknown = unknown_member(value, request.type()); !unknown.empty())
    return wrong("it has no member \"" + unknown + '"');
  return {};
}

}  // namespace tenon::cli
