#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tenon/session_buffers.hpp"
#include "wire.hpp"

namespace tenon::wire {

/// What each side says first.
struct Preface {
  std::uint64_t major = major_version;
  std::uint64_t minor = minor_version;
  std::uint64_t features = own_features;
  std::uint64_t max_frame = 0;
  std::uint64_t max_headers = 0;
  std::uint64_t max_header_count = 0;
  std::uint64_t max_concurrent = 0;
  std::string compressors;          ///< names with a space between them; since minor version 1
  std::uint64_t stream_window = 0;  ///< since minor version 2
};

/// Appends `preface` to the output. Throws std::bad_alloc.
void put_preface(const Preface& preface, SessionOutput& output);

/// Reads a preface from the start of `bytes`; `consumed` is its size on ok. `more` only while what is here can still
/// become one. On bad, `preface.major` differs from ours when that is the reason (`*version` is then true).
Scan get_preface(std::string_view bytes, Preface& preface, std::size_t& consumed, bool& version);

}  // namespace tenon::wire
