#include "json_serializer.hpp"

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <climits>

#include "json_parse.hpp"
#include "json_reader.hpp"
#include "json_writer.hpp"

namespace tenon::json {

namespace {

Error refused(Errc code, std::string_view type, std::string_view why) {
  return Error(code, std::string(type) + ": JSON: " + std::string(why), Delivery::not_run);
}

}  // namespace

Result<void> JsonSerializer::encode(const MessageType& type, const void* value, OutBuffer& out) const {
  if (const google::protobuf::Message* message = type.as_protobuf(value)) {
    std::string text;
    const auto status = google::protobuf::util::MessageToJsonString(*message, &text);
    if (!status.ok())
      return refused(Errc::invalid_argument, message->GetTypeName(),
                     {status.message().data(), status.message().size()});
    out.append(text);
    return {};
  }
  JsonWriter writer(out);
  type.write(value, writer);
  if (writer.failed()) return Error(writer.error()).prefix(type.name());
  return {};
}

Result<void> JsonSerializer::decode(std::string_view bytes, const MessageType& type, void* value) const {
  if (bytes.size() > INT_MAX) return refused(Errc::malformed, type.name(), "more than 2 GiB");
  // Also before protobuf's own parser, which would let duplicate keys and lone surrogates pass.
  Result<boost::json::value> document = parse(bytes);
  if (!document.ok()) return Error(document.error()).prefix(type.name());
  if (google::protobuf::Message* message = type.as_protobuf(value)) {
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;
    const auto status = google::protobuf::util::JsonStringToMessage({bytes.data(), bytes.size()}, message, options);
    if (!status.ok())
      return refused(Errc::malformed, message->GetTypeName(), {status.message().data(), status.message().size()});
    return {};
  }
  JsonReader reader(*document);
  type.read(value, reader);
  if (reader.failed()) return std::move(reader.error()).prefix(type.name());
  return {};
}

}  // namespace tenon::json
