#include "media_types.hpp"

#include <algorithm>

#include "text.hpp"

namespace tenon::http {
namespace {

constexpr std::string_view json = "application/json";

// The first of a serializer is the one that answers are named by when the request says nothing better. What curl and
// forms say without being asked is taken for JSON.
constexpr struct {
  std::string_view name, serializer, answer;
} known[] = {
    {json, "json", json},
    {"text/json", "json", json},
    {"text/plain", "json", json},
    {"application/x-www-form-urlencoded", "json", json},
    {"application/x-protobuf", "protobuf", "application/x-protobuf"},
    {"application/protobuf", "protobuf", "application/protobuf"},
    {"application/msgpack", "msgpack", "application/msgpack"},
};

}  // namespace

Result<MediaTypes> MediaTypes::create(const std::map<std::string, std::string>& more) {
  MediaTypes made;
  for (const auto& type : known)
    made.types_.push_back({std::string(type.name), std::string(type.serializer), std::string(type.answer)});
  for (const auto& [given, serializer] : more) {
    const std::string name = lower(given);
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos || !is_token(name.substr(0, slash)) || !is_token(name.substr(slash + 1)))
      return Error(Errc::config, "content_types: \"" + given + "\" is no media type like application/cbor");
    if (serializer.empty()) return Error(Errc::config, "content_types: " + given + " has no serializer");
    std::erase_if(made.types_, [&](const MediaType& type) { return type.name == name; });
    made.types_.push_back({name, serializer, name});
  }
  for (const MediaType& type : made.types_) made.text_.append(made.text_.empty() ? "" : ", ").append(type.name);
  return made;
}

const MediaType* MediaTypes::find(std::string_view content_type) const noexcept {
  std::string_view name = trim(content_type.substr(0, content_type.find(';')));
  if (name.empty()) name = json;
  for (const MediaType& type : types_)
    if (same_word(type.name, name)) return &type;
  return nullptr;
}

const MediaType* MediaTypes::of(std::string_view serializer) const noexcept {
  for (const MediaType& type : types_)
    if (type.serializer == serializer) return &type;
  return nullptr;
}

}  // namespace tenon::http
