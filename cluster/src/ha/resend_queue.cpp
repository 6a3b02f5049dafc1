#include "ha/resend_queue.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "ha/footprint.hpp"

namespace tenon::cluster {

namespace {

/// How many are under way at the same time: a server that comes back is not met by all of them at once.
constexpr std::size_t at_once = 16;
/// How long nothing is sent when the budget is spent.
constexpr Duration pause_without_budget = std::chrono::seconds(1);
/// What an entry takes besides its contents.
constexpr std::size_t overhead = 512;

std::size_t size_of(const Request& request) {
  std::size_t size = overhead + footprint(request.payload) + request.attachment.size();
  for (const Headers::Entry& entry : request.headers.entries()) size += entry.first.size() + entry.second.size();
  return size;
}

}  // namespace

/// One call.
struct ResendQueue::Kept {
  Kept(const Request& failed, std::size_t size) : bytes(size), request(*failed.target) {
    request.payload = failed.payload.clone();
    request.headers = failed.headers;
    request.attachment = failed.attachment;
    request.hash_key = failed.hash_key;
    if (!failed.instance) return;
    instance = *failed.instance;
    request.instance = &instance;
  }

  const std::size_t bytes;
  Request request;
  std::string instance;
  std::uint32_t tries = 0;
  TimePoint due{};
  // While it is under way.
  std::shared_ptr<ResendQueue> queue;
  std::list<Kept>::iterator position;
  CallInfo info;
  Task<Result<Response>> task;
};

ResendQueue::ResendQueue(const ResendLimits& limits, std::shared_ptr<ResendCounts> counts, Candidates& candidates,
                         Executor& executor, Log& log)
    : limits_(limits), counts_(std::move(counts)), candidates_(&candidates), executor_(executor), log_(log) {
  due_.queue = this;
  due_.fire = [](Alarm* alarm) {
    const auto queue = static_cast<Due*>(alarm)->queue->shared_from_this();
    queue->turn();
  };
}

ResendQueue::~ResendQueue() { executor_.clock().cancel(due_); }

bool ResendQueue::add(const Request& request) {
  const std::size_t bytes = size_of(request);
  if (!candidates_ || waiting_.size() + sending_.size() >= limits_.calls) return false;
  if (bytes > limits_.bytes || bytes_ > limits_.bytes - bytes) return false;
  waiting_.emplace_back(request, bytes).due = now() + limits_.interval;
  bytes_ += bytes;
  counts_->queued.fetch_add(1, std::memory_order_relaxed);
  arm();
  return true;
}

void ResendQueue::arm() noexcept {
  Clock& clock = executor_.clock();
  clock.cancel(due_);
  if (!candidates_ || waiting_.empty() || sending_.size() >= at_once) return;
  clock.arm(due_, std::max(waiting_.front().due, not_before_));
}

void ResendQueue::turn() {
  turning_ = true;
  while (candidates_ && !waiting_.empty() && sending_.size() < at_once) {
    if (now() < std::max(waiting_.front().due, not_before_)) break;
    if (!candidates_->spend_retry()) {
      not_before_ = now() + pause_without_budget;
      break;
    }
    sending_.splice(sending_.end(), waiting_, waiting_.begin());
    send(sending_.back());
  }
  turning_ = false;
  arm();
}

void ResendQueue::send(Kept& kept) {
  Request& request = kept.request;
  const Duration limit = request.target->timeout > Duration{0} ? request.target->timeout : limits_.interval;
  ++kept.tries;
  kept.queue = shared_from_this();
  kept.position = std::prev(sending_.end());
  request.tried = request.tried_set = 0;
  request.deadline = now() + limit;
  request.cancel = &cancellation_;
  request.info = &kept.info;
  CallInfo& info = kept.info;
  info.target = request.target;
  info.headers = &request.headers;
  info.attachment = &request.attachment;
  info.started = now();
  info.deadline = request.deadline;
  info.cancel = &cancellation_;
  info.executor = &executor_;
  info.attempt = kept.tries;
  Endpoint* endpoint = candidates_->next(request);
  kept.task = endpoint ? endpoint->call(request) : ready<Result<Response>>(candidates_->none_left(request));
  auto done = [](void* self) {
    auto* ended = static_cast<Kept*>(self);
    ended->queue->ended(*ended);
  };
  if (kept.task.start(done, &kept)) ended(kept);
}

// May be called inside the task's end, which allows that the task is destroyed.
void ResendQueue::ended(Kept& kept) {
  const std::shared_ptr<ResendQueue> self = std::move(kept.queue);
  Result<Response> result = Error(Errc::internal, "an attempt filter threw", Delivery::maybe_run, Advice::never);
  try {
    result = kept.task.take();
  } catch (const std::exception& e) {
    result.error().prefix(e.what());
  } catch (...) {
    result.error().prefix("something that is not a std::exception");
  }
  kept.task = {};
  if (!candidates_) {  // the methods may have gone, too
    (result.ok() ? counts_->sent : counts_->dropped).fetch_add(1, std::memory_order_relaxed);
    return erase(sending_, kept.position);
  }
  if (result.ok()) {
    counts_->sent.fetch_add(1, std::memory_order_relaxed);
    erase(sending_, kept.position);
  } else if (const Error& error = result.error();
             error.advice() == Advice::never || error.delivery() == Delivery::ran || kept.tries >= limits_.retries ||
             (error.delivery() != Delivery::not_run && !kept.request.target->idempotent)) {
    drop(kept, error);
    erase(sending_, kept.position);
  } else {
    kept.due = now() + limits_.interval;
    waiting_.splice(waiting_.end(), sending_, kept.position);
  }
  if (!turning_) turn();
}

void ResendQueue::drop(const Kept& kept, const Error& error) {
  counts_->dropped.fetch_add(1, std::memory_order_relaxed);
  const Target& target = *kept.request.target;
  log_.warn("failback", target.service->text() + "." + std::string(target.method->name) + " is given up after " +
                            std::to_string(kept.tries) + " more attempts: " + error.text());
}

void ResendQueue::erase(std::list<Kept>& from, std::list<Kept>::iterator position) noexcept {
  bytes_ -= position->bytes;
  counts_->queued.fetch_sub(1, std::memory_order_relaxed);
  from.erase(position);
}

void ResendQueue::release() noexcept {
  const auto self = shared_from_this();
  const std::size_t lost = waiting_.size() + sending_.size();
  candidates_ = nullptr;
  executor_.clock().cancel(due_);
  counts_->dropped.fetch_add(waiting_.size(), std::memory_order_relaxed);
  if (lost > 0) {
    const Kept& one = waiting_.empty() ? sending_.front() : waiting_.front();
    log_.warn("failback", one.request.target->service->text() + ": the reference is closed; " + std::to_string(lost) +
                              " calls that were to be sent again are given up");
  }
  while (!waiting_.empty()) erase(waiting_, waiting_.begin());
  cancellation_.cancel();
}

}  // namespace tenon::cluster
