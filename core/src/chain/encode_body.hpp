#pragma once
#include <string_view>

#include "tenon/payload.hpp"

namespace tenon {

/// Appends the payload as `encoding` wants it on the wire. Bodies that are encoded so already, compressed or not, pass
/// untouched; what is too small to be compressed is not. Returns the name of the compressor whose bytes they are.
/// Fails as Payload::encode().
inline Result<std::string_view> encode_body(const Payload& payload, const Encoding& encoding, OutBuffer& out) {
  const Encoding plain{encoding.serializer, nullptr, encoding.limit};
  if (!encoding.compressor) {
    if (Result<void> done = payload.encode(plain, out); !done.ok()) return std::move(done).error();
    return std::string_view();
  }
  const std::string_view name = encoding.compressor->encoding();
  if (payload.is_encoded() && payload.encoding().compressor && payload.encoding().compressor->encoding() == name) {
    if (Result<void> done = payload.encode(encoding, out); !done.ok()) return std::move(done).error();
    return name;
  }
  if (Result<void> done = payload.encode(plain, out); !done.ok()) return std::move(done).error();
  if (out.size() < encoding.compressor->min_size()) return std::string_view();
  OutBuffer smaller;
  if (Result<void> done = encoding.compressor->compress(out.view(), smaller); !done.ok())
    return std::move(done).error();
  out = std::move(smaller);
  return name;
}

}  // namespace tenon
