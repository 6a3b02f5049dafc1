#pragma once
#include <cstddef>
#include <string_view>

#include "tenon/buffer.hpp"
#include "tenon/result.hpp"
#include "tenon/type.hpp"

namespace tenon {

/// Turns values into bytes and back, for any MessageType. Chosen by name in the manifest (`serializer: json`); each
/// protocol maps names to its own numbers.
/// Threads: all functions are const and called concurrently. Blocking: never.
class TENON_SPI Serializer {
 public:
  static constexpr std::string_view kind = "serializer";
  virtual ~Serializer();

  /// The name this encoding has on the wire ("protobuf", "json"). Part of the protocol: never changed once released.
  virtual std::string_view content_type() const noexcept = 0;
  /// About how many bytes encode() will append; exact when cheap, 0 when unknown. Only saves reallocation.
  virtual std::size_t size_hint(const MessageType& type, const void* value) const = 0;
  /// Appends the encoding of `value` to `out`. On failure what was appended is meaningless.
  /// Fails with: invalid_argument (a value this format cannot carry, nesting above 64).
  virtual Result<void> encode(const MessageType& type, const void* value, OutBuffer& out) const = 0;
  /// Fills `value` (default or cleared) from `bytes`, all of which must be consumed. Unknown fields are skipped.
  /// Memory stays within a small multiple of bytes.size(). Fails with: malformed.
  virtual Result<void> decode(std::string_view bytes, const MessageType& type, void* value) const = 0;
};

/// Makes bytes smaller. Chosen by name.
/// Threads: const and concurrent. Blocking: never (CPU only).
class TENON_SPI Compressor {
 public:
  static constexpr std::string_view kind = "compressor";
  virtual ~Compressor();

  /// The name on the wire ("gzip").
  virtual std::string_view encoding() const noexcept = 0;
  /// Bodies shorter than this are sent as they are.
  virtual std::size_t min_size() const noexcept = 0;
  /// Appends to `out`.
  virtual Result<void> compress(std::string_view bytes, OutBuffer& out) const = 0;
  /// Appends to `out`. Fails with: malformed; too_large as soon as what this call appends would pass `limit` (enforced
  /// while inflating, so memory stays <= 2 x limit).
  virtual Result<void> decompress(std::string_view bytes, OutBuffer& out, std::size_t limit) const = 0;
};

/// How a body is encoded, as one connection or reference uses it. Outlives the payloads that point to it.
struct Encoding {
  const Serializer* serializer = nullptr;
  const Compressor* compressor = nullptr;  ///< null: not compressed
  std::size_t limit = 4u << 20;            ///< decoded bytes allowed
};

}  // namespace tenon
