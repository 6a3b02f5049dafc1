#pragma once
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "loop/timer_wheel.hpp"
#include "tenon/buffer.hpp"
#include "tenon/executor.hpp"

namespace tenon {

/// Something with output to flush at the end of the current turn, embedded in its owner (connections).
struct TurnEnd {
  TurnEnd* prev = nullptr;
  TurnEnd* next = nullptr;
  void (*run)(TurnEnd*) noexcept = nullptr;
};

/// An io thread and its event loop: sockets through Asio, a timer wheel, posts from other threads, and a list of
/// connections to flush once per turn.
///
/// A synchronous caller that is alone may drive the loop itself (drive()): the io thread, asked to make room, parks
/// and looks again every millisecond. That saves two thread hand-offs per call.
/// Threads: what is not marked otherwise belongs to the thread that runs the loop at the time.
class Loop final : public Executor, private Clock {
 public:
  Loop();
  /// stop() must have been called.
  ~Loop() override;

  /// Starts the io thread.
  void start();
  /// Ends the io thread after what is queued has run, and joins it. Threads: any foreign one.
  void stop();

  // Executor
  void post(Work& work) noexcept override;
  bool here() const noexcept override { return Executor::current() == this; }
  Clock& clock() noexcept override { return *this; }
  boost::asio::io_context& context() noexcept override { return context_; }

  /// Reads the clock; called at the start of each event.
  void refresh() noexcept { now_ = std::chrono::steady_clock::now(); }

  /// Flushes `end` when the turn is over, unless cancelled before.
  void at_turn_end(TurnEnd& end) noexcept;
  void cancel_turn_end(TurnEnd& end) noexcept;
  /// True when `end` is the only one waiting: it may as well run now.
  bool only_turn_end(const TurnEnd& end) const noexcept { return ends_.next == &end && ends_.prev == &end; }

  /// Destroys `owner` when the turn is over: for objects that may be among their own callers now.
  void bury(std::shared_ptr<void> owner) { buried_.push_back(std::move(owner)); }

  /// One read buffer for all connections of this thread.
  char* read_buffer() noexcept { return read_buffer_.get(); }
  static constexpr std::size_t read_buffer_size = 256u << 10;

  /// For encoding one body; emptied. Valid until the next scratch().
  OutBuffer& scratch() noexcept {
    scratch_.clear();
    return scratch_;
  }

  /// Calls outstanding on this loop's connections; while there are any, or while somebody keeps it awake (listeners,
  /// accepted connections), the io thread does not park.
  std::size_t outstanding = 0;
  std::size_t kept_awake = 0;
  /// Call numbers reserved for answers nobody waits for any more.
  std::size_t orphans = 0;

  /// If the loop is free for the taking, runs `start` (true: it finished synchronously) on the calling thread, then
  /// the loop until *done. False: not free, nothing was run; use post(). Threads: foreign ones.
  bool drive(bool (*start)(void*), void* argument, const std::atomic<bool>& done);
  /// A synchronous call that was posted has completed and its caller may soon make another: park if nothing else is
  /// going on, so that it can drive.
  void offer() noexcept {
    if (outstanding == 0 && kept_awake == 0) offered_ = true;
  }

 private:
  enum Owner : int { io_thread, parked, driven, wanted_back };

  TimePoint now() const noexcept override { return now_; }
  void arm(Alarm& alarm, TimePoint at) noexcept override;
  void cancel(Alarm& alarm) noexcept override { wheel_.cancel(alarm); }

  void run_io_thread();
  void park();
  void turn();
  void flush() noexcept;
  void drain_posts() noexcept;
  void set_timer(TimePoint at) noexcept;
  bool has_posts() const noexcept { return posted_.load() != nullptr; }

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  boost::asio::steady_timer timer_;
  TimePoint timer_at_ = never;
  TimePoint now_;
  TimerWheel wheel_;
  TurnEnd ends_{&ends_, &ends_, nullptr};
  std::unique_ptr<char[]> read_buffer_;
  std::vector<std::shared_ptr<void>> buried_;
  OutBuffer scratch_;
  bool offered_ = false;

  std::atomic<Work*> posted_{nullptr};  // newest first
  std::atomic<int> owner_{io_thread};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> ended_{false};  // the io thread is gone: posts run at once, so that nobody waits for ever
  std::atomic<std::uint64_t> drives_{0};
  std::mutex park_mutex_;
  std::condition_variable unpark_;
  std::thread thread_;
};

}  // namespace tenon
