#include "load.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "echo.tenon.h"
#include "tenon/client.hpp"
#include "tenon/task.hpp"

namespace tenon::cli {

namespace {

using ::bench::EchoRequest;
using ::bench::EchoResponse;

/// Counts down to zero; one thread waits for that.
class Finish {
 public:
  explicit Finish(std::size_t count) : left_(count) {}
  void arrive() {
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) done_.notify_all();
  }
  /// True when all have arrived.
  bool wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, time, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::size_t left_;
};

void watch(Finish& finish, const LoadProgress& progress, const std::function<std::uint64_t()>& completed) {
  while (!finish.wait_for(std::chrono::milliseconds(200)))
    if (progress) progress(completed());
}

/// Lets the loop turn once, so that a slot whose calls fail at once does not keep it busy.
class NextTurn {
 public:
  explicit NextTurn(Executor& executor) : executor_(executor) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) noexcept {
    work_.caller = caller;
    work_.run = [](Work* work) noexcept { static_cast<Resume*>(work)->caller.resume(); };
    executor_.post(work_);
  }
  void await_resume() const noexcept {}

 private:
  struct Resume : Work {
    std::coroutine_handle<> caller;
  };
  Executor& executor_;
  Resume work_;
};

/// Slots as coroutines. Everything after start() happens on the reference's io thread.
class CoroutineLoad {
 public:
  CoroutineLoad(const std::shared_ptr<Reference>& reference, const bench::Workload& workload, bool streams,
                Record& record)
      : executor_(reference->executor()),
        client_(reference),
        streams_(streams),
        record_(record),
        size_(workload.size),
        slots_(workload.outstanding),
        finish_(workload.outstanding) {
    for (Slot& slot : slots_) slot.request.set_payload(std::string(size_, 'x'));
    begin_.load = this;
    begin_.run = [](Work* work) noexcept { static_cast<Begin*>(work)->load->begin(); };
  }

  Finish& start() {
    executor_.post(begin_);
    return finish_;
  }

 private:
  struct Slot {
    EchoRequest request;
    EchoResponse reply;
    Task<void> task;
    CoroutineLoad* load = nullptr;
  };
  struct Begin : Work {
    CoroutineLoad* load = nullptr;
  };

  void begin() noexcept {
    for (Slot& slot : slots_) {
      slot.load = this;
      slot.task = streams_ ? read(*this, slot) : loop(*this, slot);
      if (slot.task.start([](void* s) { static_cast<Slot*>(s)->load->finish_.arrive(); }, &slot)) finish_.arrive();
    }
  }

  static Task<void> loop(CoroutineLoad& load, Slot& slot) {
    std::uint64_t started = bench::now();
    for (;;) {
      Result<void> done = co_await load.client_.Echo(slot.request, slot.reply, use_task);
      if (!load.record_.ended(started, done.ok() ? Error() : done.error(), slot.reply.payload().size() == load.size_))
        co_return;
      if (!done.ok()) {
        NextTurn turn(load.executor_);
        co_await turn;
        started = bench::now();
      }
    }
  }

  static Task<void> read(CoroutineLoad& load, Slot& slot) {
    for (;;) {
      Stream<EchoResponse> stream = load.client_.Pour(slot.request);
      Error error;
      std::uint64_t started = bench::now();
      while (!error) {
        Task<Result<bool>> asked = stream.next(slot.reply, use_task);
        Result<bool> more = co_await asked;
        if (!more.ok())
          error = std::move(more).error();
        else if (!*more)
          error = Error(Errc::internal, "the stream ended");
        if (!load.record_.ended(started, error, slot.reply.payload().size() == load.size_)) co_return;
      }
      NextTurn turn(load.executor_);
      co_await turn;
    }
  }

  Executor& executor_;
  const ::bench::Echo::Client client_;
  const bool streams_;
  Record& record_;
  const std::size_t size_;
  std::deque<Slot> slots_;
  Finish finish_;
  Begin begin_;
};

/// Slots as callbacks that call again. Everything after start() happens on the reference's io thread.
class CallbackLoad {
 public:
  CallbackLoad(const std::shared_ptr<Reference>& reference, const bench::Workload& workload, Record& record)
      : executor_(reference->executor()),
        client_(reference),
        record_(record),
        size_(workload.size),
        slots_(workload.outstanding),
        finish_(workload.outstanding) {
    request_.set_payload(std::string(size_, 'x'));
    for (Slot& slot : slots_) {
      slot.load = this;
      slot.run = [](Work* work) noexcept { static_cast<Slot*>(work)->load->issue(*static_cast<Slot*>(work)); };
    }
  }

  Finish& start() {
    for (Slot& slot : slots_) executor_.post(slot);
    return finish_;
  }

 private:
  struct Slot : Work {
    CallbackLoad* load = nullptr;
    std::uint64_t started = 0;
  };

  void issue(Slot& slot) noexcept {
    if (slot.started == 0) slot.started = bench::now();
    client_.Echo(request_, [this, &slot](Result<EchoResponse> reply) {
      const bool ok = reply.ok();
      if (!record_.ended(slot.started, ok ? Error() : reply.error(), ok && reply->payload().size() == size_))
        finish_.arrive();
      else if (ok)
        issue(slot);
      else
        wait(slot);
    });
  }

  void wait(Slot& slot) noexcept {
    slot.started = 0;
    executor_.post(slot);
  }

  Executor& executor_;
  const ::bench::Echo::Client client_;
  Record& record_;
  const std::size_t size_;
  EchoRequest request_;
  std::deque<Slot> slots_;
  Finish finish_;
};

/// One blocking caller of many.
void call_in_a_loop(const std::shared_ptr<Reference>& reference, std::size_t size, Record& record) {
  const ::bench::Echo::Client client(reference);
  EchoRequest request;
  EchoResponse reply;
  request.set_payload(std::string(size, 'x'));
  std::uint64_t started = bench::now();
  for (;;) {
    Result<void> done = client.Echo(request, reply);
    if (!record.ended(started, done.ok() ? Error() : done.error(), reply.payload().size() == size)) return;
    if (!done.ok()) std::this_thread::yield();
  }
}

void run_threads(const std::shared_ptr<Reference>& reference, const bench::Workload& workload, bench::Window window,
                 const LoadProgress& progress, Record& total) {
  std::deque<Record> records;
  std::vector<std::thread> threads;
  Finish finish(workload.outstanding);
  for (unsigned i = 0; i < workload.outstanding; ++i) records.emplace_back(window);
  for (Record& record : records)
    threads.emplace_back([&] {
      call_in_a_loop(reference, workload.size, record);
      finish.arrive();
    });
  watch(finish, progress, [&] {
    std::uint64_t sum = 0;
    for (const Record& record : records) sum += record.completed();
    return sum;
  });
  for (std::thread& thread : threads) thread.join();
  for (const Record& record : records) total.merge(record);
}

}  // namespace

bool Record::ended(std::uint64_t& started, const Error& error, bool right_size) {
  const std::uint64_t time = bench::now();
  const std::uint64_t took = time - std::exchange(started, time);
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (time >= window_.close) return false;
  if (time < window_.open) return true;
  if (!error && right_size) {
    latency_.add(took);
  } else {
    ++errors_;
    if (first_error_.empty())
      first_error_ =
          error ? std::string(to_string(error.code())) + ": " + error.text() : "an answer had the wrong size";
  }
  return true;
}

void Record::merge(const Record& other) {
  latency_.merge(other.latency_);
  errors_ += other.errors_;
  if (first_error_.empty()) first_error_ = other.first_error_;
}

LoadResult run_load(const std::shared_ptr<Reference>& reference, LoadMode mode, bench::Workload workload, double warmup,
                    double seconds, const LoadProgress& progress) {
  static constexpr const char* names[] = {"coroutine", "callback", "sync", "stream"};
  workload.mode = names[static_cast<int>(mode)];
  const bench::Window window = bench::Window::after(warmup, seconds);
  Record record(window);
  const auto completed = [&record] { return record.completed(); };
  switch (mode) {
    case LoadMode::coroutine:
    case LoadMode::stream: {
      CoroutineLoad load(reference, workload, mode == LoadMode::stream, record);
      watch(load.start(), progress, completed);
      break;
    }
    case LoadMode::callback: {
      CallbackLoad load(reference, workload, record);
      watch(load.start(), progress, completed);
      break;
    }
    case LoadMode::sync: run_threads(reference, workload, window, progress, record); break;
  }
  LoadResult result;
  result.figures.workload = std::move(workload);
  result.figures.latency = record.latency();
  result.figures.errors = record.errors();
  result.figures.seconds = window.seconds();
  result.first_error = record.first_error();
  return result;
}

Result<void> await_callee(const std::shared_ptr<Reference>& reference, std::size_t size, Duration patience) {
  const ::bench::Echo::Client client(reference);
  EchoRequest request;
  request.set_payload(std::string(size, 'x'));
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    Result<EchoResponse> reply = client.Echo(request);
    if (reply.ok()) {
      if (reply->payload().size() == size) return {};
      return Error(Errc::internal, "bench.Echo/Echo answered " + std::to_string(reply->payload().size()) +
                                       " bytes to a payload of " + std::to_string(size));
    }
    if (reply.error().code() != Errc::unavailable || std::chrono::steady_clock::now() >= until)
      return std::move(reply).error();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace tenon::cli
