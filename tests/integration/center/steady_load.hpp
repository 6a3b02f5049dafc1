#pragma once
// Calls at a steady rate, whatever becomes of those before.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tenon::test {

/// So many calls a second on threads of its own, each at its time; what is late is made up for. Threads: one.
class SteadyLoad {
 public:
  using Clock = std::chrono::steady_clock;
  /// `call` says who answered, or "error: …".
  SteadyLoad(std::function<std::string()> call, int per_second, int threads = 4)
      : call_(std::move(call)), begun_(Clock::now()) {
    const auto between = std::chrono::nanoseconds(std::chrono::seconds(threads)) / per_second;
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, between, first = begun_ + between * i / threads] { work(first, between); });
  }
  SteadyLoad(const SteadyLoad&) = delete;
  SteadyLoad& operator=(const SteadyLoad&) = delete;
  ~SteadyLoad() { stop(); }

  /// How often each answered; errors by their text.
  std::map<std::string, int> so_far() const {
    const std::lock_guard lock(mutex_);
    return answers_;
  }
  std::map<std::string, int> stop() {
    if (!stop_.exchange(true)) ended_ = Clock::now();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return answers_;
  }
  int calls() const {
    int sum = 0;
    for (const auto& [who, count] : so_far()) sum += count;
    return sum;
  }
  // Once it has stopped.
  double rate() const { return calls() / std::chrono::duration<double>(ended_ - begun_).count(); }
  double slowest_ms() const { return std::chrono::duration<double, std::milli>(slowest_).count(); }

 private:
  void work(Clock::time_point at, std::chrono::nanoseconds between) {
    for (; !stop_; at += between) {
      std::this_thread::sleep_until(at);
      const auto begun = Clock::now();
      const std::string answer = call_();
      const auto took = Clock::now() - begun;
      const std::lock_guard lock(mutex_);
      ++answers_[answer];
      slowest_ = std::max(slowest_, took);
    }
  }
  const std::function<std::string()> call_;
  const Clock::time_point begun_;
  Clock::time_point ended_{};
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, int> answers_;
  Clock::duration slowest_{};
  std::vector<std::thread> threads_;
};

}  // namespace tenon::test
