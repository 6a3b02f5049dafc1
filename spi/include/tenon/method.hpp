#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tenon/clock.hpp"
#include "tenon/headers.hpp"
#include "tenon/type.hpp"

namespace tenon {

/// How many messages go each way. unary, one_way and server_stream are carried; the others answer `unimplemented`.
enum class Shape : std::uint8_t { unary, one_way, server_stream, client_stream, bidi };

TENON_SPI std::string_view to_string(Shape shape) noexcept;

/// A method as its service declares it. Constant; outlives everything that mentions it.
struct Method {
  std::string_view name;  ///< "SayHello", without the service
  Shape shape = Shape::unary;
  const MessageType* input = nullptr;   ///< Form message or arguments
  const MessageType* output = nullptr;  ///< Form message or bare
  bool idempotent = false;              ///< may be re-sent although it may have run
};

/// Names a service: the same interface may exist in several groups and versions.
struct ServiceName {
  std::string interface;  ///< "demo.Greeter"
  std::string group;
  std::string version;
  bool operator==(const ServiceName&) const = default;
  /// "group/interface:version" without what is empty.
  TENON_SPI std::string text() const;
};

/// A method of a service as one reference calls it or one server offers it, with what is settled before any call.
/// Stable: its address identifies it for as long as its reference or server lives, which lets protocols keep
/// per-connection dictionaries by pointer.
struct Target {
  const ServiceName* service = nullptr;
  const Method* method = nullptr;
  std::uint32_t index = 0;       ///< position of the method in its service
  Duration timeout{0};           ///< the call's (for a stream: to its end) default time limit; 0: none
  std::int32_t retries = -1;     ///< overrides the HA strategy's number; -1: not set
  bool idempotent = false;       ///< the declaration's or the manifest's word
};

}  // namespace tenon
