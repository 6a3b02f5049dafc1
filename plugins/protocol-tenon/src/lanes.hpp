#pragma once
// Large frames on their way out, part by part, so that frames of other calls go between.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>

#include "calls.hpp"
#include "tenon/session_buffers.hpp"
#include "wire.hpp"

namespace tenon::wire {

/// A frame that has not left yet, without its length.
struct WaitingFrame {
  OutBuffer head;  ///< from the type byte on; of a frame that leaves whole, all of it
  Attachment body;
  Attachment attachment;
  bool last = false;     ///< it ends the call
  bool begun = false;    ///< its first part has left
  std::size_t sent = 0;  ///< bytes of body and attachment that have left

  std::size_t tail() const noexcept { return body.size() + attachment.size(); }
  bool in_parts() const noexcept { return tail() > 0; }
  std::size_t left() const noexcept { return (begun ? 0 : head.size()) + tail() - sent; }
};

/// The calls of which a large frame, or something behind one, has not left yet. Each has a lane, where the order is
/// kept; lanes take turns, part by part. Not more lanes are begun than the peer is bound to put up with (max_in_parts
/// and their bytes, see README.md); the others wait for one to end.
/// Threads: one at a time.
class Lanes {
 public:
  explicit Lanes(bool own) noexcept : index_(own) {}

  /// What one step did.
  struct Step {
    bool done = false;  ///< there was nothing to do
    std::uint32_t call = 0;
    bool began = false;  ///< the first part of the lane's first frame has left
    bool last = false;   ///< the frame that ends the call has left
    bool idle = false;   ///< nothing more of this call waits; its lane is gone
  };

  /// Bytes in all lanes.
  std::size_t waiting() const noexcept { return waiting_; }
  /// Would a new lane with a frame of `tail` bytes be begun at once?
  bool may_begin(std::size_t tail, std::size_t max_frame) const noexcept {
    return later_.empty() && fits(tail, max_frame);
  }
  /// Appends a frame to the call's lane, a new one if there is none. Throws std::bad_alloc, then nothing changed.
  void add(std::uint32_t call, WaitingFrame frame);
  /// Appends the first part of the only frame of the call's new lane. REQUIRES may_begin() before add(). Throws
  /// std::bad_alloc, then nothing changed.
  void begin(std::uint32_t call, SessionOutput& output);
  /// Appends the next part, or frame, of the lane whose turn it is. `max_frame` is the peer's. Throws std::bad_alloc,
  /// then nothing was appended.
  Step step(SessionOutput& output, std::size_t max_frame);
  /// Forgets what waits of the call. True: the first part of a frame had left, and not the last.
  bool drop(std::uint32_t call) noexcept;
  void clear() noexcept;

 private:
  struct Lane {
    std::uint32_t call = 0;
    bool begun = false;  ///< in begun_
    std::deque<WaitingFrame> frames;
  };
  struct Entry {
    std::uint32_t call = 0;
    bool used = false;
    std::list<Lane>::iterator lane;
  };
  bool fits(std::size_t tail, std::size_t max_frame) const noexcept {
    return begun_.empty() || (begun_.size() < max_in_parts && tail + begun_bytes_ <= max_in_parts_bodies * max_frame);
  }
  void begin_later(std::size_t max_frame) noexcept;
  static std::size_t append_first(const Lane& lane, SessionOutput& output);
  static std::size_t append_next(const Lane& lane, SessionOutput& output);

  NumberTable<Entry> index_;
  std::list<Lane> begun_;  // the one in front is next
  std::list<Lane> later_;
  std::size_t begun_bytes_ = 0;  // bodies and attachments of the frames that have left in part
  std::size_t waiting_ = 0;
};

}  // namespace tenon::wire
