#include "tenon/reference.hpp"

#include <algorithm>

#include "tenon/client.hpp"

namespace tenon {

Reference::~Reference() = default;

/// Connects a CancelSource, or a parent call on another executor, with one call. `call` is touched on the reference's
/// executor only; the link outlives the call as long as somebody may still fire it.
struct CancelSource::Link : Work, std::enable_shared_from_this<Link> {
  OutgoingCall* call = nullptr;
  Cancellation* cancellation = nullptr;
  Executor* executor = nullptr;
  std::atomic<bool> fired{false};
  std::atomic<bool> over{false};
  std::shared_ptr<Link> self;

  void fire_from_anywhere() noexcept {
    if (over.load(std::memory_order_relaxed) || fired.exchange(true)) return;
    self = shared_from_this();
    run = [](Work* work) noexcept {
      auto* link = static_cast<Link*>(work);
      std::shared_ptr<Link> keep = std::move(link->self);
      if (link->cancellation) link->cancellation->cancel();
    };
    executor->post(*this);
  }
};

CancelSource::~CancelSource() = default;

void CancelSource::cancel() noexcept {
  std::vector<std::shared_ptr<Link>> links;
  {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    links.swap(links_);
  }
  for (const auto& link : links) link->fire_from_anywhere();
}

OutgoingCall::OutgoingCall(Reference& reference, const Target& target, const void* in, void* reply,
                           const CallOptions& options)
    : reference_(reference), request_(target), options_(&options), reply_headers_(options.reply_headers) {
  request_.payload = Payload::borrow(*target.method->input, in);
  request_.reply = reply;
  request_.info = &info_;
  if (!options.headers.empty()) request_.headers = options.headers;
  request_.hash_key = options.hash_key;
  if (!options.instance.empty()) {
    instance_ = options.instance;
    request_.instance = &instance_;
  }
  timeout_ = options.timeout > Duration{0} ? options.timeout : target.timeout;
}

OutgoingCall::~OutgoingCall() {
  Cancellation::remove(parent_hook_);
  if (link_) link_->over = true;
}

void OutgoingCall::link_cancel() {
  const CallInfo* parent = options_->parent;
  if (parent) {
    request_.deadline = parent->deadline;
    info_.deadline = parent->deadline;
  }
  const bool remote_parent = parent && parent->cancel && parent->executor && parent->executor->here() &&
                             parent->executor != &reference_.executor();
  if (options_->cancel || remote_parent) {
    link_ = std::make_shared<CancelSource::Link>();
    link_->call = this;
    link_->cancellation = &cancellation_;
    link_->executor = &reference_.executor();
    request_.cancel = &cancellation_;
  }
  if (options_->cancel) {
    std::unique_lock lock(options_->cancel->mutex_);
    std::erase_if(options_->cancel->links_, [](const auto& link) { return link->over.load(); });
    const bool already = options_->cancel->cancelled_;
    if (!already) options_->cancel->links_.push_back(link_);
    lock.unlock();
    if (already) link_->fire_from_anywhere();
  }
  if (parent && parent->cancel && parent->executor && parent->executor->here()) {
    request_.cancel = &cancellation_;
    // The hook lives on the parent's executor, like the code that started this call.
    parent_hook_.call = this;
    parent_hook_.fire = [](CancelHook* hook) noexcept {
      OutgoingCall* call = static_cast<ParentHook*>(hook)->call;
      if (call->link_ && call->origin_)
        call->link_->fire_from_anywhere();
      else
        call->cancellation_.cancel();
    };
    if (!parent->cancel->add(parent_hook_)) {
      if (remote_parent)
        link_->fire_from_anywhere();
      else
        cancellation_.cancel();
    }
  }
}

bool OutgoingCall::start(void (*done)(void*) noexcept, void* argument) noexcept {
  done_ = done;
  argument_ = argument;
  Executor& executor = reference_.executor();
  if (options_->parent || options_->cancel) {
    if (!executor.here()) origin_ = Executor::current();
    link_cancel();
  }
  options_ = nullptr;
  if (executor.here()) return begin();
  origin_ = Executor::current();
  post_.call = this;
  post_.run = [](Work* work) noexcept {
    OutgoingCall* call = static_cast<Post*>(work)->call;
    if (call->begin()) call->finished();
  };
  executor.post(post_);
  return false;
}

bool OutgoingCall::begin() noexcept {
  const TimePoint now = reference_.executor().clock().now();
  info_.side = Side::client;
  info_.target = request_.target;
  info_.headers = &request_.headers;
  info_.started = now;
  if (timeout_ > Duration{0}) request_.deadline = std::min(request_.deadline, now + timeout_);
  info_.deadline = request_.deadline;
  info_.cancel = request_.cancel;
  info_.executor = &reference_.executor();
  if (request_.cancel && request_.cancel->cancelled()) {
    error_ = Error(Errc::cancelled, "the caller gave the call up before it was sent", Delivery::not_run, Advice::never);
    return true;
  }
  task_ = reference_.invoker().call(request_);
  auto done = [](void* self) {
    auto* call = static_cast<OutgoingCall*>(self);
    call->settle(call->task_.take());
    call->finished();
  };
  if (!task_.start(done, this)) return false;
  settle(task_.take());
  return true;
}

void OutgoingCall::settle(Result<Response> result) noexcept {
  if (link_) link_->cancellation = nullptr;
  task_ = {};
  if (!result.ok()) {
    error_ = std::move(result).error();
    return;
  }
  if (reply_headers_) *reply_headers_ = std::move(result->headers);
  const MessageType& type = *request_.target->method->output;
  if (result->payload.has_value() && result->payload.value() == request_.reply) return;
  if (!request_.reply) return;
  if (auto taken = result->payload.take_into(type, request_.reply); !taken.ok())
    error_ = std::move(taken).error().prefix("reply of " + request_.target->service->text()).deliver(Delivery::ran);
}

void OutgoingCall::finished() noexcept {
  if (!origin_) {
    done_(argument_);
    return;
  }
  post_.call = this;
  post_.run = [](Work* work) noexcept {
    OutgoingCall* call = static_cast<Post*>(work)->call;
    call->done_(call->argument_);
  };
  origin_->post(post_);
}

bool OutgoingCall::await_suspend(std::coroutine_handle<> caller) noexcept {
  return !start([](void* address) noexcept { std::coroutine_handle<>::from_address(address).resume(); },
                caller.address());
}

}  // namespace tenon

namespace tenon::detail {

Task<Result<void>> call_into(Reference& reference, const Target& target, const void* in, void* out) {
  static const CallOptions none;
  OutgoingCall call(reference, target, in, out, none);
  co_await call;
  if (call.error()) co_return std::move(call.error());
  co_return Result<void>();
}

Task<Result<void>> call_into(Reference& reference, const Target& target, const void* in, void* out,
                             CallOptions options) {
  OutgoingCall call(reference, target, in, out, options);
  co_await call;
  if (call.error()) co_return std::move(call.error());
  co_return Result<void>();
}

}  // namespace tenon::detail
