#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "dictionary.hpp"
#include "tenon/protocol.hpp"
#include "wire.hpp"

namespace tenon::wire {

/// A header list as it stands in a frame.
struct ListField {
  EntryRef ref;
  std::string_view pairs;  ///< of a list that is said in full
  std::uint64_t count = 0;
  std::size_t size = 0;  ///< bytes of count and pairs
  /// Not 0: the list is this large (bytes, or pairs when `many`); reading stopped inside it.
  std::uint64_t oversize = 0;
  bool many = false;
};
Scan read_list_field(Cursor& cursor, const Limits& limits, ListField& field) noexcept;

/// The fields of a request, response or message in front of its body, as they stand in the bytes: nothing is looked up,
/// copied or remembered. Views point into the bytes.
struct Head {
  Kind kind;
  std::uint8_t flags;
  std::uint32_t call;
  EntryRef names;              ///< request
  Names text;                  ///< request that says its names; [4] and [5] also of a response with flag_content
  std::uint64_t remaining_ms;  ///< request
  ListField headers;           ///< with flag_headers
  std::uint64_t attachment;    ///< bytes at the end of the frame; 0 after oversize headers
  std::size_t body_at;         ///< position of the body in the frame (after oversize headers: of the rest)

  bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
  Head(Kind k, std::uint8_t f) noexcept : kind(k), flags(f) {}  // NOLINT: the rest is set by read_head()
};

/// Reads a head; `cursor` stands behind the type byte. Flags have been checked. Whether the attachment fits into what
/// is left of the frame is the caller's to check: here the frame may have come in part.
Scan read_head(Cursor& cursor, const Limits& limits, Head& head) noexcept;

/// The pairs of a field as Headers. False: malformed. Throws std::bad_alloc.
bool read_list(std::string_view pairs, std::uint64_t count, Headers& headers);

/// Bytes of count and pairs on the wire (without their length).
std::size_t list_size(const Headers& headers) noexcept;
/// Writes length, count and pairs; returns the end. `size` is list_size().
char* put_list(char* to, const Headers& headers, std::size_t size) noexcept;

inline std::size_t text_size(std::string_view text) noexcept { return varint_size(text.size()) + text.size(); }
char* put_text(char* to, std::string_view text) noexcept;

/// `bytes` for a message: quoted, at most 64 of them, control characters and quotes escaped.
std::string quoted(std::string_view bytes);

}  // namespace tenon::wire
