#pragma once
// What a request's head means.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "protocol.hpp"
#include "refusal.hpp"
#include "request_parser.hpp"
#include "tenon/frame.hpp"

namespace tenon::http {

/// What is remembered of a request until it is answered.
struct Call {
  bool close = false;       ///< the connection ends with the answer
  bool keep_alive = false;  ///< HTTP/1.0 that asked for it and must be told
  bool head_only = false;   ///< the answer has no body
  const MediaType* type = nullptr;
  std::uint32_t accepts = 0;  ///< bit n: the answer may be compressed by compressor n
};

enum class Framing : std::uint8_t { none, length, chunked };

struct Request {
  Call call;
  Framing framing = Framing::none;
  std::size_t length = 0;
  bool expects_continue = false;
  std::string interface, method, group, version;
  std::string compressor;
  Duration remaining{0};
  Headers headers;
  Refusal refusal;  ///< why it will not be delivered, although it can be read to its end
};

/// Where the request ends, and whether the connection goes on after it. What it returns is fatal.
Refusal read_framing(const RequestHead& head, const Limits& limits, Request& request);

/// Everything else. What it returns is the answer. `compressors`: those this side can read; 32 of them are looked at.
Refusal read_meaning(const RequestHead& head, const Settings& settings, std::span<const std::string> compressors,
                     Request& request);

/// Interface, method, group and version from "/INTERFACE/METHOD?group=…&version=…" or the same with "http://HOST" in
/// front.
Refusal read_target(std::string_view target, Request& request);

}  // namespace tenon::http
