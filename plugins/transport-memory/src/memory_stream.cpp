#include "memory_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace tenon::mem {

std::size_t Ring::put(std::string_view bytes) {
  const std::size_t count = std::min(bytes.size(), room());
  if (count == 0) return 0;
  if (!memory_) memory_.reset(new char[capacity_]);
  const std::size_t start = (first_ + size_) % capacity_;
  const std::size_t straight = std::min(count, capacity_ - start);
  std::memcpy(memory_.get() + start, bytes.data(), straight);
  std::memcpy(memory_.get(), bytes.data() + straight, count - straight);
  size_ += count;
  return count;
}

std::size_t Ring::take(char* into, std::size_t size) noexcept {
  const std::size_t count = std::min(size, size_);
  if (count == 0) return 0;
  const std::size_t straight = std::min(count, capacity_ - first_);
  std::memcpy(into, memory_.get() + first_, straight);
  std::memcpy(into + straight, memory_.get(), count - straight);
  first_ = (first_ + count) % capacity_;
  size_ -= count;
  return count;
}

void Duplex::settle(int end, Executor& executor) noexcept {
  const std::lock_guard lock(mutex_);
  ends_[end].executor = &executor;
}

bool Duplex::can_read(int end) const noexcept {
  const End& peer = ends_[1 - end];
  return ends_[end].incoming.size() > 0 || peer.finished || peer.closed;
}

bool Duplex::can_write(int end) const noexcept {
  const End& peer = ends_[1 - end];
  return peer.incoming.room() > 0 || peer.closed || ends_[end].finished;
}

IoResult Duplex::read(int end, char* into, std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  End& self = ends_[end];
  End& peer = ends_[1 - end];
  if (const std::size_t got = self.incoming.take(into, size)) {
    wake(peer.writable, peer.executor);
    return {IoResult::Status::done, got, 0};
  }
  const bool ended = size > 0 && (peer.finished || peer.closed);
  return {ended ? IoResult::Status::end : IoResult::Status::would_block, 0, 0};
}

IoResult Duplex::write(int end, std::span<const std::string_view> parts) noexcept {
  const std::lock_guard lock(mutex_);
  End& peer = ends_[1 - end];
  if (ends_[end].finished || peer.closed) return {IoResult::Status::failed, 0, EPIPE};
  std::size_t written = 0;
  std::size_t wanted = 0;
  try {
    for (const std::string_view part : parts) {
      wanted += part.size();
      const std::size_t put = peer.incoming.put(part);
      written += put;
      if (put < part.size()) break;
    }
  } catch (const std::bad_alloc&) {
    return {IoResult::Status::failed, 0, ENOMEM};
  }
  if (written == 0 && wanted > 0) return {IoResult::Status::would_block, 0, 0};
  wake(peer.readable, peer.executor);
  return {IoResult::Status::done, written, 0};
}

void Duplex::wait(int end, bool readable, Completion done) noexcept {
  const std::lock_guard lock(mutex_);
  End& self = ends_[end];
  Wait& wait = readable ? self.readable : self.writable;
  wait.done = done;
  if (readable ? can_read(end) : can_write(end)) wake(wait, self.executor);
}

void Duplex::wake(Wait& wait, Executor* executor) noexcept {
  if (!wait.done.run || wait.posted) return;
  wait.posted = true;
  wait.duplex = this;
  wait.keep = shared_from_this();
  wait.run = &Duplex::deliver;
  executor->post(wait);
}

void Duplex::deliver(Work* work) noexcept {
  Wait& wait = *static_cast<Wait*>(work);
  const std::shared_ptr<Duplex> keep = std::move(wait.keep);
  Completion done;
  {
    const std::lock_guard lock(keep->mutex_);
    wait.posted = false;
    done = std::exchange(wait.done, {});  // empty: the end was closed meanwhile
  }
  if (done.run) done.run(done.self);
}

void Duplex::finish(int end) noexcept {
  const std::lock_guard lock(mutex_);
  ends_[end].finished = true;
  End& peer = ends_[1 - end];
  wake(peer.readable, peer.executor);
}

void Duplex::close(int end) noexcept {
  const std::lock_guard lock(mutex_);
  End& self = ends_[end];
  self.closed = true;
  self.readable.done = self.writable.done = {};
  End& peer = ends_[1 - end];
  wake(peer.readable, peer.executor);
  wake(peer.writable, peer.executor);
}

MemoryStream::MemoryStream(std::shared_ptr<Duplex> duplex, int end, Executor& home, std::string local, std::string peer)
    : duplex_(std::move(duplex)), end_(end) {
  duplex_->settle(end, home);
  info_.local = std::move(local);
  info_.peer = std::move(peer);
}

}  // namespace tenon::mem
