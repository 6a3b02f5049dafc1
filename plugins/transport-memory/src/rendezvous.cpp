#include "rendezvous.hpp"

#include <utility>

namespace tenon::mem {

Doorway::Doorway(std::string name, Executor& executor, std::size_t backlog) noexcept
    : name_(std::move(name)), executor_(executor), backlog_(backlog) {
  run = &Doorway::resume;
}

Doorway::Entry Doorway::enter(Visitor visitor) {
  const std::lock_guard lock(mutex_);
  if (closed_) return Entry::closed;
  if (visitors_.size() >= backlog_) return Entry::full;
  visitors_.push_back(std::move(visitor));
  wake();
  return Entry::taken;
}

bool Doorway::next(Visitor& visitor, bool& closed, std::coroutine_handle<> waiting) {
  const std::lock_guard lock(mutex_);
  closed = closed_;
  if (closed_) return true;
  if (visitors_.empty()) {
    waiting_ = waiting;
    return false;
  }
  visitor = std::move(visitors_.front());
  visitors_.pop_front();
  return true;
}

void Doorway::close() noexcept {
  std::deque<Visitor> refused;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    refused.swap(visitors_);
    wake();
  }
  for (const Visitor& visitor : refused) visitor.duplex->close(1);
}

void Doorway::wake() noexcept {
  if (!waiting_ || posted_) return;
  posted_ = true;
  keep_ = shared_from_this();
  executor_.post(*this);
}

void Doorway::resume(Work* work) noexcept {
  auto* self = static_cast<Doorway*>(work);
  const std::shared_ptr<Doorway> keep = std::move(self->keep_);
  std::coroutine_handle<> waiting;
  {
    const std::lock_guard lock(self->mutex_);
    self->posted_ = false;
    waiting = std::exchange(self->waiting_, {});
  }
  waiting.resume();
}

Rendezvous& Rendezvous::of_process() noexcept {
  static auto* const table = new Rendezvous;  // never destroyed: listeners of other threads may outlive main()
  return *table;
}

bool Rendezvous::add(std::shared_ptr<Doorway> doorway) {
  const std::lock_guard lock(mutex_);
  return doorways_.emplace(doorway->name(), doorway).second;
}

void Rendezvous::remove(const Doorway& doorway) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = doorways_.find(doorway.name());
  if (found != doorways_.end() && found->second.get() == &doorway) doorways_.erase(found);
}

std::shared_ptr<Doorway> Rendezvous::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = doorways_.find(name);
  return found == doorways_.end() ? nullptr : found->second;
}

std::uint64_t Rendezvous::number() noexcept {
  const std::lock_guard lock(mutex_);
  return ++last_number_;
}

}  // namespace tenon::mem
