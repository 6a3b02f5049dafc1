#include "default_cluster.hpp"

namespace tenon::cluster {

Result<std::unique_ptr<DefaultCluster>> DefaultCluster::create(Options options, Environment) {
  if (options.stale_limit.count() < 0) return Error(Errc::config, "stale_limit is negative", Delivery::not_run);
  if (options.collapse_percent > 100)
    return Error(Errc::config, "collapse_percent goes from 0 to 100", Delivery::not_run);
  if (options.retry_percent > 1000)
    return Error(Errc::config, "retry_percent goes from 0 to 1000", Delivery::not_run);
  return std::unique_ptr<DefaultCluster>(new DefaultCluster(options));
}

Result<std::unique_ptr<ClusterInvoker>> DefaultCluster::join(ClusterParts parts) {
  return JoinedCluster::join(std::move(parts), options_);
}

}  // namespace tenon::cluster
