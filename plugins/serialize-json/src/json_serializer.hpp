#pragma once
#include <memory>

#include "tenon/describe.hpp"
#include "tenon/environment.hpp"
#include "tenon/serializer.hpp"

namespace tenon::json {

/// No settings.
struct JsonOptions {};
BOOST_DESCRIBE_STRUCT(JsonOptions, (), ())

/// Serializer "json": generated protobuf messages by the canonical proto3 mapping, everything else by the same rules
/// with 64-bit integers as numbers (README.md).
class JsonSerializer final : public Serializer {
 public:
  using Options = JsonOptions;
  static Result<std::unique_ptr<JsonSerializer>> create(Options, Environment) {
    return std::make_unique<JsonSerializer>();
  }

  std::string_view content_type() const noexcept override { return "json"; }
  std::size_t size_hint(const MessageType&, const void*) const override { return 0; }
  Result<void> encode(const MessageType& type, const void* value, OutBuffer& out) const override;
  Result<void> decode(std::string_view bytes, const MessageType& type, void* value) const override;
};

}  // namespace tenon::json
