#include "loop/loop.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace tenon {

namespace {
constexpr auto park_check = std::chrono::milliseconds(1);
}

Loop::Loop()
    : guard_(context_.get_executor()),
      timer_(context_),
      now_(std::chrono::steady_clock::now()),
      wheel_(now_),
      read_buffer_(new char[read_buffer_size]) {}

Loop::~Loop() {
  // Handlers left in the context may hold connections, which take themselves off our lists.
  stop();
}

void Loop::start() { thread_ = std::thread(&Loop::run_io_thread, this); }

void Loop::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  boost::asio::post(context_, [] {});
  {
    std::lock_guard lock(park_mutex_);
    unpark_.notify_all();
  }
  thread_.join();
  ended_ = true;
}

void Loop::post(Work& work) noexcept {
  if (ended_.load(std::memory_order_acquire)) {
    Current current(*this);
    work.run(&work);
    return;
  }
  Work* newest = posted_.load(std::memory_order_relaxed);
  do {
    work.next = newest;
  } while (!posted_.compare_exchange_weak(newest, &work));
  if (newest) return;  // a drain is on its way already
  boost::asio::post(context_, [this] { drain_posts(); });
  if (owner_.load() == parked) {
    std::lock_guard lock(park_mutex_);
    unpark_.notify_all();
  }
}

void Loop::drain_posts() noexcept {
  refresh();
  Work* newest = posted_.exchange(nullptr);
  Work* oldest = nullptr;
  while (newest) {
    Work* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest) {
    Work* work = oldest;
    oldest = work->next;
    work->run(work);
  }
}

void Loop::at_turn_end(TurnEnd& end) noexcept {
  if (end.next) return;
  end.prev = ends_.prev;
  end.next = &ends_;
  ends_.prev->next = &end;
  ends_.prev = &end;
}

void Loop::cancel_turn_end(TurnEnd& end) noexcept {
  if (!end.next) return;
  end.prev->next = end.next;
  end.next->prev = end.prev;
  end.prev = end.next = nullptr;
}

void Loop::flush() noexcept {
  while (ends_.next != &ends_) {
    TurnEnd* end = ends_.next;
    cancel_turn_end(*end);
    end->run(end);
  }
  while (!buried_.empty()) {
    const auto gone = std::exchange(buried_, {});  // destroying may bury more
  }
}

void Loop::turn() {
  context_.run_one();
  // What is ready already belongs to this turn: its output leaves in the same writes.
  while (ends_.next != &ends_ && context_.poll_one() != 0) {
  }
  flush();
}

void Loop::arm(Alarm& alarm, TimePoint at) noexcept {
  wheel_.arm(alarm, at);
  if (at < timer_at_) set_timer(wheel_.next());
}

void Loop::set_timer(TimePoint at) noexcept {
  timer_at_ = at;
  if (at == never) return;
  timer_.expires_at(at);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;  // moved to an earlier time
    refresh();
    timer_at_ = never;
    wheel_.advance(now_);
    const TimePoint next = wheel_.next();
    if (next < timer_at_) set_timer(next);
  });
}

void Loop::run_io_thread() {
  while (true) {
    {
      Current current(*this);
      while (!stopping_ && !offered_) turn();
      if (stopping_) {
        // Finish what is queued: nothing that was posted is lost.
        while (context_.poll_one() != 0 || has_posts()) flush();
        flush();
        return;
      }
      offered_ = false;
    }
    park();
  }
}

void Loop::park() {
  owner_ = parked;
  std::uint64_t seen = drives_.load();
  std::unique_lock lock(park_mutex_);
  while (true) {
    int expected = parked;
    if ((has_posts() || stopping_) && owner_.compare_exchange_strong(expected, io_thread)) return;
    expected = wanted_back;
    if (owner_.compare_exchange_strong(expected, io_thread)) return;
    const bool timed_out = unpark_.wait_for(lock, park_check) == std::cv_status::timeout;
    if (!timed_out) continue;
    const std::uint64_t now_seen = drives_.load();
    expected = parked;
    if (now_seen == seen && owner_.compare_exchange_strong(expected, io_thread)) return;
    seen = now_seen;
  }
}

bool Loop::drive(bool (*start)(void*), void* argument, const std::atomic<bool>& done) {
  int expected = parked;
  if (ended_ || !owner_.compare_exchange_strong(expected, driven)) return false;
  {
    Current current(*this);
    refresh();
    if (!start(argument)) {
      flush();
      while (!done.load(std::memory_order_relaxed)) turn();
    }
    flush();
  }
  drives_.fetch_add(1);
  const bool busy = outstanding != 0 || kept_awake != 0;
  owner_ = busy || stopping_ ? wanted_back : parked;
  if (busy || stopping_ || has_posts()) {
    std::lock_guard lock(park_mutex_);
    unpark_.notify_all();
  }
  return true;
}

}  // namespace tenon
