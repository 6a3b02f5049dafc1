#include "tenon/reference.hpp"

#include <algorithm>

#include "tenon/client.hpp"

namespace tenon {

namespace {

Task<Broadcast> ask_the_only(Invoker& invoker, Request& request) {
  Broadcast broadcast;
  auto call = invoker.call(request);
  broadcast.results.push_back(co_await call);
  broadcast.instances.emplace_back();
  co_return std::move(broadcast);
}

Task<Result<Response>> ask_each(Reference& reference, Request& request, Broadcast& broadcast) {
  auto call = reference.each(request);
  broadcast = co_await call;
  co_return Response();
}

}  // namespace

Reference::~Reference() = default;
Task<Broadcast> Reference::each(Request& request) { return ask_the_only(invoker(), request); }

/// Connects a CancelSource, or a parent call on another executor, with one call. `cancellation` is touched on the
/// reference's executor only; the link outlives the call as long as somebody may still fire it.
struct CancelSource::Link : Work, std::enable_shared_from_this<Link> {
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
    : reference_(reference),
      request_(target),
      timeout_(options.timeout > Duration{0} ? options.timeout : target.timeout),
      reply_headers_(options.reply_headers),
      options_(&options) {
  request_.payload.refer_to(*target.method->input, in);
  request_.reply = reply;
  request_.info = &info_;
  request_.hash_key = options.hash_key;
  if (!options.headers.empty()) request_.headers = options.headers;
  if (!options.attachment.empty()) request_.attachment = options.attachment;
  if (options.reply_attachment) extras().reply_attachment = options.reply_attachment;
  if (!options.instance.empty()) {
    extras().instance = options.instance;
    request_.instance = &extras_->instance;
  }
}

OutgoingCall::~OutgoingCall() {
  if (!extras_) return;
  Cancellation::remove(extras_->parent_hook);
  if (extras_->link) extras_->link->over = true;
}

void OutgoingCall::close_stream() noexcept {
  if (extras_ && extras_->link) extras_->link->cancellation = nullptr;
}

void OutgoingCall::leave_parent() noexcept {
  if (extras_) Cancellation::remove(extras_->parent_hook);
}

OutgoingCall::Extras& OutgoingCall::extras() {
  if (!extras_) extras_ = std::make_unique<Extras>();
  return *extras_;
}

void OutgoingCall::link_cancel(const CallOptions& options) {
  const CallInfo* parent = options.parent;
  if (parent) request_.deadline = parent->deadline;
  const bool follows_parent = parent && parent->cancel && parent->executor && parent->executor->here();
  const bool remote_parent = follows_parent && parent->executor != &reference_.executor();
  if (!options.cancel && !follows_parent) return;
  Extras& own = extras();
  request_.cancel = &own.cancellation;
  if (options.cancel || remote_parent) {
    own.link = std::make_shared<CancelSource::Link>();
    own.link->cancellation = &own.cancellation;
    own.link->executor = &reference_.executor();
  }
  if (options.cancel) {
    std::unique_lock lock(options.cancel->mutex_);
    std::erase_if(options.cancel->links_, [](const auto& link) { return link->over.load(); });
    const bool already = options.cancel->cancelled_;
    if (!already) options.cancel->links_.push_back(own.link);
    lock.unlock();
    if (already) own.link->fire_from_anywhere();
  }
  if (!follows_parent) return;
  // The hook lives on the parent's executor, like the code that started this call.
  own.parent_hook.call = this;
  own.parent_hook.fire = [](CancelHook* hook) noexcept {
    OutgoingCall* call = static_cast<ParentHook*>(hook)->call;
    if (call->origin_)
      call->extras_->link->fire_from_anywhere();
    else
      call->extras_->cancellation.cancel();
  };
  if (parent->cancel->add(own.parent_hook)) return;
  if (remote_parent)
    own.link->fire_from_anywhere();
  else
    own.cancellation.cancel();
}

void OutgoingCall::post(Executor& executor, void (*run)(Work*) noexcept) noexcept {
  post_->call = this;
  post_->run = run;
  executor.post(*post_);
}

bool OutgoingCall::start(void (*done)(void*) noexcept, void* argument) noexcept {
  done_ = done;
  argument_ = argument;
  Executor& executor = reference_.executor();
  const CallOptions& options = *options_;
  const bool here = executor.here();
  if (!here) origin_ = Executor::current();
  if (options.parent || options.cancel) link_cancel(options);
  options_ = nullptr;
  if (here) return begin(executor);
  post_ = new Post;
  post(executor, [](Work* work) noexcept {
    OutgoingCall* call = static_cast<Post*>(work)->call;
    if (!call->origin_) delete std::exchange(call->post_, nullptr);
    if (call->begin(call->reference_.executor())) call->finished();
  });
  return false;
}

bool OutgoingCall::begin(Executor& executor) noexcept {
  const TimePoint now = executor.clock().now();
  info_.side = Side::client;
  info_.target = request_.target;
  info_.headers = &request_.headers;
  info_.attachment = &request_.attachment;
  info_.started = now;
  if (timeout_ > Duration{0}) request_.deadline = std::min(request_.deadline, now + timeout_);
  info_.deadline = request_.deadline;
  info_.cancel = request_.cancel;
  info_.executor = &executor;
  if (request_.cancel && request_.cancel->cancelled()) {
    error_ = Error(Errc::cancelled, "the caller gave the call up before it was sent", Delivery::not_run, Advice::never);
    return true;
  }
  if (extras_ && extras_->broadcast)
    task_ = ask_each(reference_, request_, *extras_->broadcast);
  else
    task_ = reference_.invoker().call(request_);
  auto done = [](void* self) {
    auto* call = static_cast<OutgoingCall*>(self);
    call->settle();
    call->finished();
  };
  if (!task_.start(done, this)) return false;
  settle();
  return true;
}

void OutgoingCall::settle() noexcept {
  const auto threw = [this](const char* what) {
    close_stream();
    error_ = Error(Errc::internal, request_.target->service->text() + ": a filter threw: " + what, Delivery::maybe_run);
    task_ = {};
  };
  Result<Response>* settled = nullptr;
  try {
    settled = &task_.result();
  } catch (const std::exception& e) {
    return threw(e.what());
  } catch (...) {
    return threw("something that is not a std::exception");
  }
  Result<Response>& result = *settled;
  if (result.ok() && result->messages)
    extras().messages = std::move(result->messages);
  else
    close_stream();
  if (!result.ok()) {
    error_ = std::move(result.error());
  } else {
    if (extras_ && extras_->kept_headers) *extras_->kept_headers = result->headers;
    if (reply_headers_) *reply_headers_ = std::move(result->headers);
    if (extras_ && extras_->reply_attachment) *extras_->reply_attachment = std::move(result->attachment);
    const bool in_place = result->payload.has_value() && result->payload.value() == request_.reply;
    const bool answered = request_.target->method->shape == Shape::unary;
    if (request_.reply && !in_place && answered) {
      if (auto taken = result->payload.take_into(*request_.target->method->output, request_.reply); !taken.ok())
        error_ = std::move(taken).error().prefix("reply of " + request_.target->service->text()).deliver(Delivery::ran);
    }
  }
  task_ = {};
}

void OutgoingCall::finished() noexcept {
  if (!origin_) {
    done_(argument_);
    return;
  }
  post(*origin_, [](Work* work) noexcept {
    OutgoingCall* call = static_cast<Post*>(work)->call;
    delete std::exchange(call->post_, nullptr);
    call->done_(call->argument_);
  });
}

bool OutgoingCall::await_suspend(std::coroutine_handle<> caller) noexcept {
  return !start([](void* address) noexcept { std::coroutine_handle<>::from_address(address).resume(); },
                caller.address());
}

}  // namespace tenon

namespace tenon::detail {

namespace {
Error no_broadcast(const Target& target) {
  return Error(Errc::unimplemented,
               target.service->text() + "." + std::string(target.method->name) +
                   ": only unary methods can be called at every instance",
               Delivery::not_run, Advice::never);
}
}  // namespace

Result<Broadcast> broadcast(Reference& reference, const Target& target, const void* in, const CallOptions& options) {
  if (target.method->shape != Shape::unary) return no_broadcast(target);
  OutgoingCall call(reference, target, in, nullptr, options);
  call.make_broadcast();
  if (Result<void> done = reference.run(call.startable()); !done.ok()) return std::move(done).error();
  if (call.error()) return std::move(call.error());
  return call.take_broadcast();
}

Task<Result<Broadcast>> broadcast_task(Reference& reference, const Target& target, const void* in,
                                       CallOptions options) {
  if (target.method->shape != Shape::unary) co_return no_broadcast(target);
  OutgoingCall call(reference, target, in, nullptr, options);
  call.make_broadcast();
  co_await call;
  if (call.error()) co_return std::move(call.error());
  co_return call.take_broadcast();
}

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
