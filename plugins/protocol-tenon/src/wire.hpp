#pragma once
// The numbers of the protocol "tenon" version 1 and the coding of integers. README.md of this plugin has the tables.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tenon/session_buffers.hpp"

namespace tenon::wire {

/// First byte: no letter (HTTP), not 0x16 (TLS), not 0xF1 (Motan 2); CR LF at the end shows text-mode mangling.
inline constexpr std::string_view magic{"\x89TENON\r\n", 8};
inline constexpr std::uint64_t major_version = 1;
inline constexpr std::uint64_t minor_version = 2;
inline constexpr std::uint64_t feature_extended = 1;  ///< the frames and flags of 1.2: streams, attachments, fragments
inline constexpr std::uint64_t own_features = feature_extended;  ///< bits of features this side speaks
inline constexpr std::size_t max_preface = 1024;                 ///< bytes after the magic and the length
inline constexpr std::chrono::seconds handshake_limit{5};

/// Low four bits of a frame's second field.
enum class Kind : std::uint8_t {
  request = 1,
  response = 2,
  error = 3,
  cancel = 4,
  ping = 5,
  pong = 6,
  goaway = 7,
  message = 8,
  end = 9,
  credit = 10,
  fragment = 11,
};
inline constexpr std::uint8_t kind_mask = 0x0F;
// High four bits.
inline constexpr std::uint8_t flag_one_way = 0x10;        // request
inline constexpr std::uint8_t flag_content = 0x10;        // response, message: names its serializer and compressor
inline constexpr std::uint8_t flag_unknown_entry = 0x10;  // error
inline constexpr std::uint8_t flag_failure = 0x10;        // end: the stream failed
inline constexpr std::uint8_t flag_first = 0x10;          // fragment
inline constexpr std::uint8_t flag_headers = 0x20;        // request, response, error, end
inline constexpr std::uint8_t flag_stream = 0x40;         // request: asks for a stream; response: is the head of one
inline constexpr std::uint8_t flag_attachment = 0x80;     // request, response, message: bytes beside the body
inline constexpr std::uint8_t flag_ignorable = 0x80;      // unknown kinds only: skip me if you do not know me

/// Whether the receiver may be sent such a frame inside fragments. Flags are those behind the kind.
bool may_come_in_parts(Kind kind, std::uint8_t flags, Side receiver) noexcept;

// Bounds that both sides know without being told.
inline constexpr std::size_t max_name = 1024;       ///< bytes of one name (group, method, serializer, domain, …)
inline constexpr std::size_t max_text = 16u << 10;  ///< bytes of an error's text
inline constexpr std::size_t max_names = 4096;      ///< entries of the names dictionary
inline constexpr std::size_t max_names_bytes = 256u << 10;
inline constexpr std::size_t names_overhead = 64;  ///< counted per entry besides its text
inline constexpr std::size_t max_lists = 256;      ///< entries of the header-list dictionary
inline constexpr std::size_t max_lists_bytes = 64u << 10;
inline constexpr std::uint64_t max_length = 1u << 30;  ///< a frame that announces more ends the connection
inline constexpr std::int64_t max_initial_window = std::int64_t{1} << 30;  ///< an announced window above counts as this
inline constexpr std::int64_t max_window = std::int64_t{1} << 40;          ///< what credit may add up to
inline constexpr std::size_t max_in_parts = 64;        ///< frames of one direction that have left, or come, in part …
inline constexpr std::size_t max_in_parts_bodies = 4;  ///< … and their bytes, in bodies of the receiver's max_frame
inline constexpr std::uint64_t max_remaining_ms = std::uint64_t{1} << 40;  ///< 34 years; more is cut to this

// Implementation choices (not part of the protocol).
inline constexpr std::size_t max_compressors = 512;                    ///< bytes of the names that are announced
inline constexpr std::size_t direct_size = SessionOutput::block_from;  ///< larger bodies have their own buffer
inline constexpr std::size_t parts_from = 64u << 10;  ///< from this size on, body and attachment leave in parts
inline constexpr std::size_t first_part = 16u << 10;  ///< bytes of body or attachment in the first part
inline constexpr std::size_t later_part =
    64u << 10;  ///< smaller ones cost throughput, larger ones the patience of small frames
inline constexpr std::size_t refill_to = 64u << 10;   ///< more parts are appended while fewer bytes wait to be written
inline constexpr std::size_t direct_part_from = 16u << 10;  ///< a part's rest this large is read to where it belongs

// ---- LEB128, least significant group first, at most 10 bytes, shortest form only ---------------------------------
inline constexpr std::size_t max_varint = 10;

inline char* put_varint(char* to, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}
inline std::size_t varint_size(std::uint64_t value) noexcept {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

/// ok; more: the bytes end inside the field; bad: no continuation makes this valid.
enum class Scan : std::uint8_t { ok, more, bad };

/// Reads a varint from [at, end); `at` moves only on ok.
inline Scan get_varint(const char*& at, const char* end, std::uint64_t& value) noexcept {
  if (at == end) return Scan::more;
  std::uint64_t byte = static_cast<unsigned char>(*at);
  if (byte < 0x80) {
    value = byte;
    ++at;
    return Scan::ok;
  }
  const char* p = at + 1;
  std::uint64_t result = byte & 0x7F;
  for (unsigned shift = 7;; shift += 7, ++p) {
    if (p == end) return Scan::more;
    byte = static_cast<unsigned char>(*p);
    if (shift == 63 && byte > 1) return Scan::bad;
    result |= (byte & 0x7F) << shift;
    if (byte < 0x80) {
      if (byte == 0) return Scan::bad;  // a shorter form exists
      value = result;
      at = p + 1;
      return Scan::ok;
    }
  }
}

inline std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// ---- references to dictionary entries -----------------------------------------------------------------------------
/// 0: what follows is said in full and not kept; odd: it follows and becomes entry (v-1)/2; even: entry (v-2)/2.
struct EntryRef {
  std::uint64_t value = 0;
  bool refers() const noexcept { return value != 0 && value % 2 == 0; }
  bool defines() const noexcept { return value % 2 == 1; }
  std::uint64_t id() const noexcept { return refers() ? value / 2 - 1 : value / 2; }
  static EntryRef refer(std::uint64_t id) noexcept { return {2 * id + 2}; }
  static EntryRef define(std::uint64_t id) noexcept { return {2 * id + 1}; }
};

/// The fields of one frame while they are read. `size` is what the frame announced, `available` how much of it is
/// here; a field that claims more than the frame is bad at once, one that is merely not here yet is `more`.
class Cursor {
 public:
  Cursor(const char* base, std::size_t available, std::size_t size) noexcept
      : base_(base), available_(available < size ? available : size), size_(size) {}

  std::size_t at() const noexcept { return at_; }
  std::size_t left() const noexcept { return size_ - at_; }
  const char* here() const noexcept { return base_ + at_; }

  Scan byte(std::uint8_t& value) noexcept {
    if (at_ == available_) return ended();
    value = static_cast<std::uint8_t>(base_[at_++]);
    return Scan::ok;
  }
  Scan varint(std::uint64_t& value) noexcept {
    const char* p = base_ + at_;
    const Scan scan = get_varint(p, base_ + available_, value);
    at_ = static_cast<std::size_t>(p - base_);
    return scan == Scan::more ? ended() : scan;
  }
  /// A length and that many bytes, at most `limit`.
  Scan text(std::string_view& value, std::size_t limit) noexcept {
    std::uint64_t length = 0;
    if (const Scan scan = varint(length); scan != Scan::ok) return scan;
    if (length > limit || length > left()) return Scan::bad;
    return bytes(value, static_cast<std::size_t>(length));
  }
  /// REQUIRES n <= left().
  Scan bytes(std::string_view& value, std::size_t n) noexcept {
    if (available_ - at_ < n) return ended();
    value = {base_ + at_, n};
    at_ += n;
    return Scan::ok;
  }

 private:
  Scan ended() const noexcept { return available_ == size_ ? Scan::bad : Scan::more; }
  const char* base_;
  std::size_t at_ = 0;
  std::size_t available_;
  std::size_t size_;
};

}  // namespace tenon::wire
