#pragma once
#include <memory>

#include "joined_cluster.hpp"
#include "tenon/catalog.hpp"

namespace tenon::cluster {

/// Cluster "default".
class DefaultCluster final : public Cluster {
 public:
  using Options = ClusterOptions;
  static Result<std::unique_ptr<DefaultCluster>> create(Options options, Environment environment);
  Result<std::unique_ptr<ClusterInvoker>> join(ClusterParts parts) override;

 private:
  explicit DefaultCluster(const Options& options) : options_(options) {}
  const Options options_;
};

}  // namespace tenon::cluster
