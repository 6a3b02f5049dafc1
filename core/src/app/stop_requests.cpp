#include "app/stop_requests.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tenon {

namespace {

constexpr Duration look_again = std::chrono::milliseconds(20);
/// After the grace, for what does not depend on anybody: closing, joining, freeing.
constexpr Duration to_go = std::chrono::milliseconds(800);
constexpr Duration to_go_forced = std::chrono::milliseconds(500);
constexpr Duration last_words = std::chrono::milliseconds(100);
constexpr Duration longest_grace = std::chrono::hours(24 * 365);

TimePoint now() { return std::chrono::steady_clock::now(); }

}  // namespace

StopRequests::StopRequests(Log& log, Duration grace) : log_(log), grace_(grace), thread_([this] { run(); }) {}

StopRequests::~StopRequests() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  signals_.wake();
  thread_.join();
}

void StopRequests::run() {
  std::unique_lock lock(mutex_);
  while (!asked_ && !over_) {
    lock.unlock();
    signals_.wait();
    lock.lock();
    note_signals();
  }
  // From now on somebody must look whether the promise is kept.
  while (!changed_.wait_for(lock, look_again, [this] { return over_; })) {
    note_signals();
    if (!resting_ && now() >= end_) {
      lock.unlock();
      end_process();
    }
  }
}

void StopRequests::note_signals() {
  if (signals_.count() > 0 && !std::exchange(signalled_, true)) note(grace_, signals_.name());
  if (signals_.commands() > 1 && !std::exchange(forced_, true)) end_ = std::min(end_, now() + to_go_forced);
}

void StopRequests::note(Duration grace, std::string who) {
  if (!asked_) who_ = std::move(who);
  asked_ = true;
  deadline_ = std::min(deadline_, now() + std::min(grace, longest_grace));
  end_ = std::min(end_, deadline_ + to_go);
  changed_.notify_all();
}

// The log may be what is stuck: somebody else writes to it, and is not waited for long.
void StopRequests::end_process() {
  std::thread([this] {
    log_.error("stuck",
               "the application has not ended in time (a handler blocks its io thread?); the process ends without it");
    std::_Exit(1);
  }).detach();
  std::this_thread::sleep_for(last_words);
  std::_Exit(1);
}

void StopRequests::ask(Duration grace, std::string who) {
  const std::lock_guard lock(mutex_);
  note(grace, std::move(who));
  signals_.wake();
}

bool StopRequests::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

bool StopRequests::forced() const {
  const std::lock_guard lock(mutex_);
  return forced_;
}

void StopRequests::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return asked_; });
}

std::string StopRequests::who() const {
  const std::lock_guard lock(mutex_);
  return who_;
}

TimePoint StopRequests::deadline() const {
  const std::lock_guard lock(mutex_);
  return deadline_;
}

void StopRequests::rest() {
  const std::lock_guard lock(mutex_);
  resting_ = true;
}

void StopRequests::resume() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(resting_, false)) end_ = std::max(end_, now() + last_words);
}

TimePoint StopRequests::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

}  // namespace tenon
