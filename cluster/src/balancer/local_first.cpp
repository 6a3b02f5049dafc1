#include "balancer/local_first.hpp"

#include <algorithm>

#include "balancer/round_robin.hpp"
#include "traffic/router.hpp"

namespace tenon::cluster {

namespace {

using traffic::Ip;

/// A member that is not to be chosen.
class Weightless final : public Endpoint {
 public:
  explicit Weightless(std::shared_ptr<Endpoint> member) : member_(std::move(member)), instance_(member_->instance()) {
    instance_.serving = false;
  }
  Task<Result<Response>> call(Request& request) override { return member_->call(request); }
  Health health() const noexcept override { return member_->health(); }
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return member_->stats(); }
  std::uint32_t effective_weight() const noexcept override { return 0; }
  TimePoint ejected_until() const noexcept override { return member_->ejected_until(); }

 private:
  const std::shared_ptr<Endpoint> member_;
  Instance instance_;
};

bool is_loopback(const Ip& ip) noexcept {
  if (ip.is_v4) return ip.bytes[12] == 127;
  return ip.bytes.back() == 1 && std::all_of(ip.bytes.begin(), ip.bytes.end() - 1, [](auto b) { return b == 0; });
}

}  // namespace

Result<std::unique_ptr<LocalFirst>> LocalFirst::create(Options options, Environment environment) {
  std::vector<Ip> own;
  for (const std::string& address : options.addresses.empty() ? traffic::own_addresses() : options.addresses) {
    if (const std::optional<Ip> ip = Ip::parse(address))
      own.push_back(*ip);
    else
      return Error(Errc::config, "local-first: addresses: \"" + address + "\" is no IP address", Delivery::not_run);
  }
  std::shared_ptr<const Balancer> among = options.among.component;
  if (!among) {
    auto made = WeightedRoundRobin::create({}, environment);
    if (!made.ok()) return std::move(made).error();
    among = std::move(*made);
  }
  return std::unique_ptr<LocalFirst>(new LocalFirst(std::move(among), std::move(own)));
}

bool LocalFirst::is_local(const Instance& instance) const noexcept {
  if (instance.transport == "memory" || instance.address.starts_with("unix:")) return true;
  const traffic::Place place = traffic::Place::of(instance.address);
  if (!place.ip) return place.host == "localhost";
  return is_loopback(*place.ip) || std::find(own_.begin(), own_.end(), *place.ip) != own_.end();
}

std::unique_ptr<Picker> LocalFirst::over(const Members& members) const {
  Members near;
  Members far;
  std::size_t local = 0;
  for (const auto& member : members) {
    const bool here = is_local(member->instance());
    local += here ? 1 : 0;
    near.push_back(here ? member : std::make_shared<Weightless>(member));
    far.push_back(here ? std::make_shared<Weightless>(member) : member);
  }
  if (local == 0 || local == members.size()) return among_->over(members);
  return std::make_unique<LocalFirstPicker>(*among_, std::move(near), std::move(far));
}

LocalFirstPicker::LocalFirstPicker(const Balancer& among, Members near, Members far)
    : near_(std::move(near)), far_(std::move(far)), near_picker_(among.over(near_)), far_picker_(among.over(far_)) {}

int LocalFirstPicker::pick(const Request& request, const Eligible& eligible) noexcept {
  const int near = near_picker_->pick(request, eligible);
  return near >= 0 ? near : far_picker_->pick(request, eligible);
}

}  // namespace tenon::cluster
