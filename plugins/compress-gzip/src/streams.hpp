#pragma once
// zlib's streams, kept for the next call on the same thread, so that a warm call allocates nothing: a new deflate
// stream is six blocks of 264 KiB together, which malloc may have to fetch from the system and give back each time.
// (Where it need not, a kept stream is no faster than a new one; measured.)

#include <zlib.h>

#include <cstddef>
#include <string_view>

namespace tenon::gzip {

constexpr int fastest = 1;
constexpr int smallest = 9;
constexpr std::size_t largest_step = 1u << 30;  // zlib counts what it is given in 32 bits

/// A deflate stream that writes gzip members. Memory: 264 KiB.
class DeflateStream {
 public:
  DeflateStream() noexcept = default;
  DeflateStream(const DeflateStream&) = delete;
  DeflateStream& operator=(const DeflateStream&) = delete;
  ~DeflateStream();

  /// This thread's stream of that level, at the start of a member; null when there is no memory for it. Ownership:
  /// the thread's; valid until the thread ends. REQUIRES: fastest <= level <= smallest.
  static z_stream* of_thread(int level) noexcept;

 private:
  z_stream stream_ = {};
  bool open_ = false;
};

/// How a run over the members of a body ended.
enum class Ending {
  complete,   ///< every member ended and was what its trailer says
  full,       ///< more came out than there was room for
  truncated,  ///< the body ended inside a member
  foreign,    ///< the body does not start like a gzip member
  trailing,   ///< something that is no member follows one
  damaged,    ///< see Run::reason
  no_memory,
};

struct Run {
  Ending ending;
  std::size_t consumed = 0;  ///< bytes of the body
  std::size_t produced = 0;  ///< bytes that came out of it
  const char* reason = "";   ///< zlib's word for what is damaged; a literal
};

/// An inflate stream that reads gzip members, one after the other as RFC 1952 has them. Memory: 56 KiB.
class InflateStream {
 public:
  InflateStream() noexcept = default;
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;
  ~InflateStream();

  /// This thread's stream; null when there is no memory for it. Ownership: the thread's; valid until the thread ends.
  static InflateStream* of_thread() noexcept;

  /// Inflates `body` to `into`, where there is room for `room` bytes. `full` says nothing about the rest of the body.
  Run inflate_into(std::string_view body, char* into, std::size_t room) noexcept;
  /// Inflates `body` to nowhere: how many bytes would come out? Ends with `full` as soon as there are more than
  /// `limit`.
  Run count(std::string_view body, std::size_t limit) noexcept;

 private:
  struct Target;
  Run run(std::string_view body, Target target) noexcept;
  Ending run_member(std::string_view body, Target& target, Run& run) noexcept;

  z_stream stream_ = {};
  bool open_ = false;
  char nowhere_[16384];
};

}  // namespace tenon::gzip
