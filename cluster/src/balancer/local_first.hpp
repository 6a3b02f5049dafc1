#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"
#include "traffic/host.hpp"

namespace tenon::cluster {

struct LocalFirstOptions {
  Use<Balancer> among;
  std::vector<std::string> addresses;
};
BOOST_DESCRIBE_STRUCT(LocalFirstOptions, (), (among, addresses))

/// Balancer "local-first": members on this machine as long as one of them can be used, else the others; which of them
/// another balancer chooses. On this machine is who has one of its addresses (asked for when it is made) or a loopback
/// one, "localhost", a unix socket, or transport memory.
class LocalFirst final : public Balancer {
 public:
  using Options = LocalFirstOptions;
  /// Fails with: config (an address that is none).
  static Result<std::unique_ptr<LocalFirst>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;
  bool is_local(const Instance& instance) const noexcept;

 private:
  LocalFirst(std::shared_ptr<const Balancer> among, std::vector<traffic::Ip> own)
      : among_(std::move(among)), own_(std::move(own)) {}
  const std::shared_ptr<const Balancer> among_;
  const std::vector<traffic::Ip> own_;
};

/// Both of its pickers see all members, in the same positions; those that are not theirs have no weight.
class LocalFirstPicker final : public Picker {
 public:
  LocalFirstPicker(const Balancer& among, Members near, Members far);
  int pick(const Request& request, const Eligible& eligible) noexcept override;

 private:
  const Members near_;
  const Members far_;
  const std::unique_ptr<Picker> near_picker_;
  const std::unique_ptr<Picker> far_picker_;
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::LocalFirstOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("among", "which balancer chooses among the local ones, and among the others; weighted-round-robin"),
      tenon::member("addresses", "this machine's; default: those of its network interfaces"));
};
