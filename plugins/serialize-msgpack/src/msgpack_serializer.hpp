#pragma once
#include <memory>

#include "tenon/catalog.hpp"
#include "tenon/serializer.hpp"

namespace tenon::msgpack {

/// Serializer "msgpack": MessagePack, messages as maps by member name (README.md).
class MsgpackSerializer final : public Serializer {
 public:
  using Options = NoOptions;
  static Result<std::unique_ptr<MsgpackSerializer>> create(Options, Environment) {
    return std::make_unique<MsgpackSerializer>();
  }

  std::string_view content_type() const noexcept override { return "msgpack"; }
  /// A guess from the number of members: the exact size costs as much as encoding.
  std::size_t size_hint(const MessageType& type, const void* value) const override;
  Result<void> encode(const MessageType& type, const void* value, OutBuffer& out) const override;
  Result<void> decode(std::string_view bytes, const MessageType& type, void* value) const override;
};

}  // namespace tenon::msgpack
