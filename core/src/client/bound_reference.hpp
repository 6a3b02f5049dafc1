#pragma once
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "chain/filter_chain.hpp"
#include "loop/loop.hpp"
#include "tenon/cluster.hpp"
#include "tenon/options.hpp"
#include "tenon/reference.hpp"

namespace tenon {

/// A reference of the manifest, ready to be called: filters in front of a cluster, on one loop.
class BoundReference final : public Reference {
 public:
  /// REQUIRES: on the loop's thread.
  static Result<std::shared_ptr<BoundReference>> open(const ReferenceOptions& options, std::shared_ptr<Loop> loop,
                                                      std::shared_ptr<Cluster> cluster, ClusterParts parts,
                                                      std::vector<std::shared_ptr<Filter>> filters);
  ~BoundReference() override;

  const ServiceName& service() const noexcept override { return service_; }
  Result<const Target*> bind(const Method& method) override;
  Executor& executor() noexcept override { return *loop_; }
  Invoker& invoker() noexcept override { return chain_->first(); }
  Task<Broadcast> each(Request& request) override;
  Result<void> run(const Startable& what) override;

  ClusterInvoker& cluster() noexcept { return *cluster_invoker_; }
  /// Its cluster, or null once it was released. Threads: the loop's.
  const ClusterInvoker* known_cluster() const noexcept { return cluster_invoker_.get(); }
  Loop& loop() noexcept { return *loop_; }
  /// New calls are refused afterwards; those in flight go on. Threads: the loop's.
  void close();
  /// Lets go of endpoints and watches. REQUIRES: closed, and no call in flight. Threads: the loop's.
  void release();

 private:
  /// Answers every call once the reference is closed.
  class Closed final : public Invoker {
   public:
    Task<Result<Response>> call(Request& request) override;
    Health health() const noexcept override { return Health::closed; }
  };
  struct Bound {
    std::string name;
    Method method;
    Target target;
  };

  BoundReference(const ReferenceOptions& options, std::shared_ptr<Loop> loop);

  std::shared_ptr<Loop> loop_;
  ServiceName service_;
  std::map<std::string, MethodOptions> methods_;
  Duration timeout_;
  std::shared_ptr<Cluster> cluster_;
  std::unique_ptr<ClusterInvoker> cluster_invoker_;
  Closed closed_;
  std::unique_ptr<FilterChain> chain_;
  std::unique_ptr<FilterChain> retired_chain_;
  std::mutex bind_mutex_;
  std::deque<Bound> bound_;
};

/// Stands for a reference that cannot be had: every bind fails with the reason.
class RefusedReference final : public Reference {
 public:
  RefusedReference(Error reason, Executor& executor) : reason_(std::move(reason)), executor_(executor) {}
  const ServiceName& service() const noexcept override { return service_; }
  Result<const Target*> bind(const Method&) override { return reason_; }
  Executor& executor() noexcept override { return executor_; }
  Invoker& invoker() noexcept override { return invoker_; }
  Result<void> run(const Startable&) override { return reason_; }

 private:
  class Refuse final : public Invoker {
   public:
    explicit Refuse(const Error& reason) : reason_(reason) {}
    Task<Result<Response>> call(Request&) override { return ready<Result<Response>>(reason_); }
    Health health() const noexcept override { return Health::closed; }

   private:
    const Error& reason_;
  };
  Error reason_;
  Executor& executor_;
  ServiceName service_;
  Refuse invoker_{reason_};
};

}  // namespace tenon
