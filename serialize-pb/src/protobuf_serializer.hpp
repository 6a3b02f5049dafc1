#pragma once
#include <memory>

#include "tenon/describe.hpp"
#include "tenon/environment.hpp"
#include "tenon/serializer.hpp"

namespace tenon::pb {

/// No settings.
struct ProtobufOptions {};
BOOST_DESCRIBE_STRUCT(ProtobufOptions, (), ())

/// Serializer "protobuf": generated messages by protobuf itself, everything else in the same wire format (README.md).
class ProtobufSerializer final : public Serializer {
 public:
  using Options = ProtobufOptions;
  static Result<std::unique_ptr<ProtobufSerializer>> create(Options, Environment) {
    return std::make_unique<ProtobufSerializer>();
  }

  std::string_view content_type() const noexcept override { return "protobuf"; }
  std::size_t size_hint(const MessageType& type, const void* value) const override;
  Result<void> encode(const MessageType& type, const void* value, OutBuffer& out) const override;
  Result<void> decode(std::string_view bytes, const MessageType& type, void* value) const override;
};

}  // namespace tenon::pb
