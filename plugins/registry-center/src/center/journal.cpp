#include "journal.hpp"

#include <system_error>
#include <utility>

namespace tenon::center {

Result<std::unique_ptr<Journal>> Journal::start(std::unique_ptr<Store> store, std::size_t limit, Log& log) {
  auto journal = std::unique_ptr<Journal>(new Journal(std::move(store), limit, log));
  try {
    journal->thread_ = std::thread([self = journal.get()] { self->work(); });
  } catch (const std::system_error& e) {
    return Error(Errc::unavailable, std::string("center store: its thread cannot be started: ") + e.what(),
                 Delivery::not_run);
  }
  return journal;
}

Journal::~Journal() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  news_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool Journal::Write::await_suspend(std::coroutine_handle<> waiter) {
  waiter_ = waiter;
  run = [](Work* work) noexcept { static_cast<Write*>(work)->waiter_.resume(); };
  Journal& journal = journal_;
  {
    const std::lock_guard lock(journal.mutex_);
    if (journal.waiting_ >= journal.limit_) {
      result_ = Error(Errc::overloaded,
                      "center store: " + std::to_string(journal.waiting_) + " writes wait already; try again",
                      Delivery::not_run, Advice::none);
      return false;
    }
    journal.entries_.push_back({this, {}});
    ++journal.waiting_;
  }
  journal.news_.notify_one();
  return true;
}

void Journal::later(Job job) {
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back({nullptr, std::move(job)});
  }
  news_.notify_one();
}

Result<void> Journal::run(const Job& job) noexcept {
  try {
    return job(*store_);
  } catch (const std::exception& e) {
    return Error(Errc::internal, std::string("center store: ") + e.what(), Delivery::maybe_run);
  }
}

void Journal::work() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait(lock, [this] { return ending_ || !entries_.empty(); });
    if (entries_.empty()) return;
    const Entry entry = std::move(entries_.front());
    entries_.pop_front();
    if (entry.write) --waiting_;
    lock.unlock();
    if (entry.write) {
      entry.write->result_ = run(entry.write->job_);
      Executor& home = entry.write->home_;
      home.post(*entry.write);  // it may be gone from here on
    } else if (auto done = run(entry.job); !done.ok()) {
      log_.warn("center-store", done.error().text());
    }
    lock.lock();
  }
}

}  // namespace tenon::center
