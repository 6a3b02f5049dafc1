#pragma once
// Transport "failing": tcp and unix sockets, of whose I/O one fails on purpose.

#include <atomic>
#include <cstdint>
#include <memory>

#include "tenon/catalog.hpp"
#include "tenon/plugin.hpp"

namespace tenon::test {

/// Says which I/O fails: the n-th since arm(), counted from 0 over all streams of a transport.
/// Threads: any; arm() while nothing is going on.
class IoPlan {
 public:
  enum class How : int {
    never,
    fail,   ///< connect: refused; accept: the connection is dropped; read and write: ECONNRESET, now and from then on
    end,    ///< a read says that the peer has closed; everything else as `fail`
    brief,  ///< no failure: a read or write moves one byte, or nothing although it could; connect and accept work
  };

  void arm(How how, std::uint64_t nth) noexcept {
    seen_ = 0;
    happened_ = false;
    nth_ = nth;
    how_ = how;
  }
  /// Counts one; `never` unless it is the one.
  How next() noexcept {
    if (seen_.fetch_add(1) != nth_ || how_ == How::never) return How::never;
    happened_ = true;
    return how_;
  }
  bool happened() const noexcept { return happened_; }
  std::uint64_t seen() const noexcept { return seen_; }

 private:
  std::atomic<std::uint64_t> seen_{0};
  std::atomic<std::uint64_t> nth_{0};
  std::atomic<How> how_{How::never};
  std::atomic<bool> happened_{false};
};

struct FailingOptions {
  std::shared_ptr<IoPlan> plan;
};
BOOST_DESCRIBE_STRUCT(FailingOptions, (), ())

/// "transport-failing".
extern const Plugin failing_plugin;

}  // namespace tenon::test
