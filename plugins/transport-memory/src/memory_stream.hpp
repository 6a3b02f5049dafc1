#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tenon/executor.hpp"
#include "tenon/transport.hpp"

namespace tenon::mem {

/// A bounded queue of bytes. The memory is taken with the first byte.
class Ring {
 public:
  explicit Ring(std::size_t capacity) noexcept : capacity_(capacity) {}
  std::size_t size() const noexcept { return size_; }
  std::size_t room() const noexcept { return capacity_ - size_; }
  /// Takes what fits; says how much that was.
  std::size_t put(std::string_view bytes);
  std::size_t take(char* into, std::size_t size) noexcept;

 private:
  const std::size_t capacity_;
  std::unique_ptr<char[]> memory_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

/// Two streams of bytes between two ends, which may live on two threads.
/// Threads: any; one mutex.
class Duplex : public std::enable_shared_from_this<Duplex> {
 public:
  explicit Duplex(std::size_t capacity) noexcept : ends_{End(capacity), End(capacity)} {}

  /// Which executor gets the completions of `end` (0 or 1). Before its first wait.
  void settle(int end, Executor& executor) noexcept;
  IoResult read(int end, char* into, std::size_t size) noexcept;
  IoResult write(int end, std::span<const std::string_view> parts) noexcept;
  void wait(int end, bool readable, Completion done) noexcept;
  void finish(int end) noexcept;
  /// The end is gone: its waits are dropped, the peer reads what is left and then the end.
  void close(int end) noexcept;

 private:
  /// One wait; posted to the end's executor when it is over.
  struct Wait : Work {
    Duplex* duplex = nullptr;
    Completion done;
    bool posted = false;
    std::shared_ptr<Duplex> keep;  // while posted
  };
  struct End {
    explicit End(std::size_t capacity) noexcept : incoming(capacity) {}
    Ring incoming;         // what the peer wrote
    bool finished = false; // writes no more
    bool closed = false;
    Executor* executor = nullptr;
    Wait readable;
    Wait writable;
  };
  bool can_read(int end) const noexcept;
  bool can_write(int end) const noexcept;
  void wake(Wait& wait, Executor* executor) noexcept;
  static void deliver(Work* work) noexcept;

  std::mutex mutex_;
  std::array<End, 2> ends_;
};

/// One end of a Duplex as a stream.
class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::shared_ptr<Duplex> duplex, int end, Executor& home, std::string local, std::string peer);
  ~MemoryStream() override { duplex_->close(end_); }

  IoResult try_read(char* into, std::size_t size) noexcept override { return duplex_->read(end_, into, size); }
  IoResult try_write(std::span<const std::string_view> parts) noexcept override { return duplex_->write(end_, parts); }
  void wait_readable(Completion done) noexcept override { duplex_->wait(end_, true, done); }
  void wait_writable(Completion done) noexcept override { duplex_->wait(end_, false, done); }
  void finish() noexcept override { duplex_->finish(end_); }
  const PeerInfo& info() const noexcept override { return info_; }
  std::string_view negotiated() const noexcept override { return {}; }

 private:
  const std::shared_ptr<Duplex> duplex_;
  const int end_;
  PeerInfo info_;
};

}  // namespace tenon::mem
