#pragma once
#include "tenon/options.hpp"
#include "tenon/protocol.hpp"

namespace tenon {

/// A manifest's limits as sessions take them.
inline Limits limits_of(const LimitOptions& options) {
  return {options.max_frame, options.max_headers, options.max_header_count, options.max_concurrent,
          static_cast<std::uint32_t>(options.stream_window.bytes)};
}

}  // namespace tenon
