#include "client/bound_reference.hpp"

#include "pool/pool.hpp"

namespace tenon {

namespace {

/// A blocking caller's wait.
struct SyncWait : Work {
  SyncWait(const Startable& w, Loop& l) : what(w), loop(&l) {}
  bool start(void (*ended)(void*) noexcept) noexcept { return what.start(what.self, ended, this); }
  const Startable what;
  Loop* loop;
  std::atomic<bool> done{false};
};

void wake(void* argument) noexcept {
  auto* wait = static_cast<SyncWait*>(argument);
  wait->done.store(true, std::memory_order_release);
  wait->done.notify_one();
}
void wake_driver(void* argument) noexcept {
  static_cast<SyncWait*>(argument)->loop->offer();
  wake(argument);
}
void finish_driven(void* argument) noexcept {
  static_cast<SyncWait*>(argument)->done.store(true, std::memory_order_relaxed);
}

}  // namespace

BoundReference::BoundReference(const ReferenceOptions& options, std::shared_ptr<Loop> loop)
    : loop_(std::move(loop)),
      service_{options.service, options.group, options.version},
      methods_(options.methods),
      timeout_(options.timeout) {}

BoundReference::~BoundReference() = default;

Result<std::shared_ptr<BoundReference>> BoundReference::open(const ReferenceOptions& options,
                                                             std::shared_ptr<Loop> loop,
                                                             std::shared_ptr<Cluster> cluster, ClusterParts parts,
                                                             std::vector<std::shared_ptr<Filter>> filters) {
  std::shared_ptr<BoundReference> reference(new BoundReference(options, std::move(loop)));
  auto joined = cluster->join(std::move(parts));
  if (!joined.ok()) return std::move(joined).error();
  reference->cluster_ = std::move(cluster);
  reference->cluster_invoker_ = std::move(*joined);
  reference->chain_ = std::make_unique<FilterChain>(std::move(filters), *reference->cluster_invoker_);
  return reference;
}

Task<Broadcast> BoundReference::each(Request& request) {
  if (!cluster_invoker_ || retired_chain_) return Reference::each(request);  // closed: it says so
  return cluster_invoker_->each(request);
}

void BoundReference::close() {
  retired_chain_ = std::move(chain_);  // calls in flight are inside it
  chain_ = std::make_unique<FilterChain>(std::vector<std::shared_ptr<Filter>>(), closed_);
}

void BoundReference::release() {
  retired_chain_.reset();
  cluster_invoker_.reset();
  cluster_.reset();
}

Task<Result<Response>> BoundReference::Closed::call(Request& request) {
  Error error(Errc::unavailable, request.target->service->text() + ": the application is stopping", Delivery::not_run,
              Advice::never);
  return ready<Result<Response>>(std::move(error));
}

Result<const Target*> BoundReference::bind(const Method& method) {
  if (method.shape == Shape::client_stream || method.shape == Shape::bidi)
    return Error(Errc::unimplemented,
                 service_.text() + "." + std::string(method.name) + ": " + std::string(to_string(method.shape)) +
                     " methods are not carried yet; unary, one_way and server_stream are",
                 Delivery::not_run, Advice::never);
  std::lock_guard lock(bind_mutex_);
  for (Bound& bound : bound_)
    if (bound.name == method.name && bound.method.input == method.input && bound.method.output == method.output &&
        bound.method.shape == method.shape && bound.method.idempotent == method.idempotent)
      return &bound.target;
  Bound& bound = bound_.emplace_back();
  bound.name = method.name;
  bound.method = method;
  bound.method.name = bound.name;
  bound.target.service = &service_;
  bound.target.method = &bound.method;
  if (method.shape != Shape::server_stream) bound.target.timeout = timeout_;
  bound.target.idempotent = method.idempotent;
  if (const auto found = methods_.find(bound.name); found != methods_.end()) {
    const MethodOptions& options = found->second;
    if (options.idempotent) bound.target.idempotent = *options.idempotent;
    if (options.timeout) bound.target.timeout = *options.timeout;
    if (options.retries) bound.target.retries = static_cast<std::int32_t>(*options.retries);
  }
  return &bound.target;
}

Result<void> BoundReference::run(const Startable& what) {
  SyncWait wait(what, *loop_);
  if (on_pool_thread()) {
    // Begun here, the call would report its end to this thread's loop, which waits for it: so it begins on the
    // reference's. Nor does this thread drive that loop, whose events would then run nested in a handler.
    wait.run = [](Work* work) noexcept {
      auto* self = static_cast<SyncWait*>(work);
      if (self->start(&wake)) wake(self);
    };
    loop_->post(wait);
    wait.done.wait(false, std::memory_order_acquire);
    return {};
  }
  if (Executor::current())
    return Error(Errc::would_deadlock,
                 service_.text() +
                     ": a synchronous call on an io thread would wait for itself; use co_await with use_task, or a "
                     "callback",
                 Delivery::not_run, Advice::never);
  // Alone, the caller drives the loop itself: no thread hand-off.
  auto start = [](void* argument) { return static_cast<SyncWait*>(argument)->start(&finish_driven); };
  if (loop_->drive(start, &wait, wait.done)) return {};
  if (wait.start(&wake_driver)) return {};
  wait.done.wait(false, std::memory_order_acquire);
  return {};
}

}  // namespace tenon
