#include "tenon/session_buffers.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace tenon {
namespace {

constexpr std::size_t block_size = 64u << 10;
constexpr std::size_t first_room = 2048;
constexpr std::size_t max_recycled = 256u << 10;
constexpr std::size_t first_body_room = 64u << 10;

// Shared by the sessions of a thread, so that a busy connection finds a grown block and an idle one keeps none.
struct Spares {
  static constexpr std::size_t room = 4;
  OutBuffer blocks[room];
  std::size_t count = 0;

  OutBuffer take() noexcept { return count ? std::move(blocks[--count]) : OutBuffer(); }
  void give(OutBuffer block) noexcept {
    if (count == room || block.capacity() > max_recycled) return;
    block.clear();
    blocks[count++] = std::move(block);
  }
};
thread_local Spares spares;

}  // namespace

void SessionOutput::reserve_block() {
  if (parts_.capacity() - parts_.size() < 2) parts_.reserve(parts_.size() * 2 + 4);
}

char* SessionOutput::prepare_slow(std::size_t n) {
  if (open_ && parts_.back().bytes.size() + n > block_size && !parts_.back().bytes.empty()) open_ = false;
  if (!open_) {
    Part part;
    part.bytes = spares.take();
    part.bytes.prepare(std::max(n, first_room));
    parts_.push_back(std::move(part));
    open_ = true;
  }
  return parts_.back().bytes.prepare(n);
}

void SessionOutput::append_block(OutBuffer block) noexcept {
  assert(!block.empty() && parts_.capacity() > parts_.size());
  unwritten_ += block.size();
  Part part;
  part.bytes = std::move(block);
  part.small = false;
  parts_.push_back(std::move(part));
  open_ = false;
}

void SessionOutput::append_shared(Attachment kept, std::string_view bytes) noexcept {
  assert(!bytes.empty() && parts_.capacity() > parts_.size());
  unwritten_ += bytes.size();
  Part part;
  part.kept = std::move(kept);
  part.shared = bytes;
  part.small = false;
  parts_.push_back(std::move(part));
  open_ = false;
}

void SessionOutput::produce(Gather& gather, std::size_t budget) const {
  std::size_t taken = 0;
  for (std::size_t i = first_; i < parts_.size() && !gather.full() && taken < budget; ++i) {
    std::string_view rest = parts_[i].view().substr(parts_[i].begin);
    rest = rest.substr(0, std::max<std::size_t>(budget - taken, 1));
    taken += rest.size();
    gather.add(rest);
  }
}

void SessionOutput::written(std::size_t n) noexcept {
  assert(n <= unwritten_);
  unwritten_ -= n;
  while (first_ < parts_.size()) {
    Part& part = parts_[first_];
    const std::size_t size = part.view().size() - part.begin;
    if (n < size) {
      part.begin += n;
      break;
    }
    n -= size;
    if (part.small) spares.give(std::move(part.bytes));
    part.bytes.release();
    part.kept = {};
    ++first_;
  }
  if (first_ == parts_.size()) {
    parts_.clear();
    first_ = 0;
    open_ = false;
  } else if (first_ >= 64) {
    parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

void IncomingBody::begin(std::size_t size) {
  bytes_.clear();
  bytes_.prepare(size <= believed ? size : first_body_room);
  left_ = size;
}

Want IncomingBody::want() noexcept {
  return {bytes_.data() + bytes_.size(), std::min(bytes_.capacity() - bytes_.size(), left_)};
}

void IncomingBody::commit(std::size_t n) {
  bytes_.commit(n);
  left_ -= n;
  if (left_ > 0 && bytes_.size() == bytes_.capacity())
    bytes_.prepare(std::min(left_, std::max(bytes_.size(), first_body_room)));
}

std::size_t IncomingBody::append(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && left_ > 0) {
    const Want room = want();
    const std::size_t n = std::min(room.size, bytes.size() - at);
    std::memcpy(room.into, bytes.data() + at, n);
    at += n;
    commit(n);
  }
  return at;
}

}  // namespace tenon
