#include "generic_call.hpp"

#include <future>

#include "tenon/cluster.hpp"
#include "tenon/stream.hpp"
#include "tenon/task.hpp"

namespace tenon::cli {

namespace {

using DescribeIn = Arguments<std::string>;
using DescribeOut = Bare<SchemaService>;

Result<void> run(Reference& reference, const Target& target, const void* in, void* out, const CallOptions& options) {
  OutgoingCall call(reference, target, in, out, options);
  if (Result<void> done = reference.run(call.startable()); !done.ok()) return done;
  if (call.error()) return std::move(call.error());
  return {};
}

/// Runs on the reference's executor; tells the waiting thread.
class InstanceQuery : public Work {
 public:
  InstanceQuery(ClusterInvoker& cluster, Executor& executor, Duration patience)
      : cluster_(cluster), executor_(executor), patience_(patience) {
    run = [](Work* work) noexcept { static_cast<InstanceQuery*>(work)->begin(); };
  }
  Result<std::vector<std::string>> wait() {
    std::future<Result<std::vector<std::string>>> found = found_.get_future();
    executor_.post(*this);
    return found.get();
  }

 private:
  void begin() noexcept {
    ready_ = cluster_.ready(executor_.clock().now() + patience_);
    if (ready_.start([](void* query) { static_cast<InstanceQuery*>(query)->finish(); }, this)) finish();
  }
  void finish() noexcept {
    Result<void> ready = ready_.take();
    const std::shared_ptr<const Members> members = cluster_.members();
    std::vector<std::string> ids;
    if (members)
      for (const auto& member : *members) ids.push_back(member->instance().id);
    if (ids.empty() && !ready.ok())
      found_.set_value(std::move(ready).error());
    else
      found_.set_value(std::move(ids));
  }

  ClusterInvoker& cluster_;
  Executor& executor_;
  const Duration patience_;
  Task<Result<void>> ready_;
  std::promise<Result<std::vector<std::string>>> found_;
};

}  // namespace

Result<SchemaService> describe_remote(Reference& reference, const std::string& interface, const CallOptions& options) {
  // The same instances, another service: the connection is shared and nothing has to be announced for it. Constants of
  // the program, because connections know a Target by its address.
  static const ServiceName service{"tenon.Descriptors", "", ""};
  static const Method method{"describe", Shape::unary, &message_type<DescribeIn>(), &message_type<DescribeOut>(), true};
  static const Target target{&service, &method, 0, Duration{0}, -1, true};
  const DescribeIn in{{interface}};
  DescribeOut out;
  if (Result<void> done = run(reference, target, &in, &out, options); !done.ok()) return std::move(done).error();
  return std::move(out.value);
}

Result<void> call_method(Reference& reference, const Method& method, const Object& request, Object& reply,
                         const CallOptions& options) {
  Result<const Target*> target = reference.bind(method);
  if (!target.ok()) return std::move(target).error();
  return run(reference, **target, request.get(), reply.get(), options);
}

namespace {

/// A stream of messages whose type is known only at run time.
class GenericStream final : public OpenStream {
 public:
  GenericStream(std::shared_ptr<Reference> reference, const Target& target, const Object& request,
                const CallOptions& options)
      : OpenStream(std::move(reference), target), request_(request.type()) {
    request.type().copy(request.get(), request_.get());
    open(request_.get(), options);
  }

 private:
  const Object request_;
};

}  // namespace

Result<void> read_stream(std::shared_ptr<Reference> reference, const Method& method, const Object& request,
                         Object& reply, const CallOptions& options, const std::function<Result<bool>()>& show) {
  Result<const Target*> target = reference->bind(method);
  if (!target.ok()) return std::move(target).error();
  const auto close = [](OpenStream* stream) { stream->close(); };
  const std::unique_ptr<OpenStream, decltype(close)> stream(new GenericStream(reference, **target, request, options),
                                                            close);
  while (true) {
    Result<bool> more = detail::wait_for_message(*stream, reply.get());
    if (!more.ok()) return std::move(more).error();
    if (!*more) return {};
    Result<bool> go_on = show();
    if (!go_on.ok()) return std::move(go_on).error();
    if (!*go_on) return {};
  }
}

Result<std::vector<std::string>> instances_of(Reference& reference, Duration patience) {
  auto* cluster = dynamic_cast<ClusterInvoker*>(&reference.invoker());
  if (!cluster)
    return Error(Errc::unimplemented, "the cluster of " + reference.service().text() + " does not tell its instances",
                 Delivery::not_run);
  InstanceQuery query(*cluster, reference.executor(), patience);
  return query.wait();
}

}  // namespace tenon::cli
