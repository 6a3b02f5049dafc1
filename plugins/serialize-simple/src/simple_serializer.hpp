#pragma once
#include <memory>

#include "tenon/describe.hpp"
#include "tenon/environment.hpp"
#include "tenon/serializer.hpp"

namespace tenon::simple {

/// No settings.
struct SimpleOptions {};
BOOST_DESCRIBE_STRUCT(SimpleOptions, (), ())

/// Serializer "simple": self-describing tagged values, big-endian; an argument list is its values one after the other
/// (README.md).
class SimpleSerializer final : public Serializer {
 public:
  using Options = SimpleOptions;
  static Result<std::unique_ptr<SimpleSerializer>> create(Options, Environment) {
    return std::make_unique<SimpleSerializer>();
  }

  std::string_view content_type() const noexcept override { return "simple"; }
  /// A guess from the number of members: the exact size costs as much as encoding.
  std::size_t size_hint(const MessageType& type, const void* value) const override;
  Result<void> encode(const MessageType& type, const void* value, OutBuffer& out) const override;
  Result<void> decode(std::string_view bytes, const MessageType& type, void* value) const override;
};

}  // namespace tenon::simple
