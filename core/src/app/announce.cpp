// What stands between a server that listens and clients that know it: services warm up, then registries are told.
#include <algorithm>
#include <random>
#include <set>

#include "app/parts.hpp"
#include "app/reachable_address.hpp"
#include "defaults.hpp"
#include "loop/run_on.hpp"
#include "loop/wait_for.hpp"

namespace tenon {

namespace {

constexpr Duration worth_a_line = std::chrono::seconds(1);

std::string fresh_id(const std::string& address) {
  std::random_device random;
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, "-%08x%08x", random(), random());
  return address + suffix;
}

/// Exceptions of application code end here.
Task<Result<void>> warm(Service& service) {
  std::string thrown;
  try {
    auto task = service.warm_up();
    auto ended = co_await task;
    co_return std::move(ended);
  } catch (const std::exception& exception) {
    thrown = exception.what();
  } catch (...) {
    thrown = "something that is no std::exception";
  }
  co_return Error(Errc::internal, "its warm_up() threw: " + thrown, Delivery::not_run, Advice::never);
}

}  // namespace

Result<void> App::Parts::warm_up() {
  std::set<const Service*> warmed;  // one may be offered under several names
  for (const auto& offered : server->settings().dispatcher.services()) {
    Service& service = offered->service();
    if (!warmed.insert(&service).second) continue;
    const std::string name(service.interface());
    const TimePoint begun = std::chrono::steady_clock::now();
    auto ended = wait_while(
        control(), [this] { return go_on().ok(); }, [&service] { return warm(service); });
    if (!ended) {
      left_behind_ = true;
      return go_on().error().prefix("service " + name + " is still warming up");
    }
    if (!ended->ok()) return std::move(*ended).error().prefix("service " + name + " could not be warmed up");
    const Duration took = std::chrono::steady_clock::now() - begun;
    if (took > worth_a_line)
      log->info("warm-up", "service " + name + " needed " +
                               std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()) +
                               " ms to warm up");
  }
  return {};
}

Result<void> App::Parts::announce() {
  const std::vector<std::string> bound = server->addresses();
  const HostAddresses addresses = host_addresses();
  std::vector<Announcements::Wanted> wanted;
  bool warned = false;
  for (const ServiceOptions& offered : options.server.services) {
    const std::size_t before = wanted.size();
    for (std::size_t index = 0; index < bound.size() && !offered.registry.empty(); ++index) {
      const ListenOptions& listen = options.server.listen[index];
      Instance instance;
      instance.address = announced_address(bound[index], listen.announce, addresses);
      if (instance.address.empty()) continue;
      instance.id = fresh_id(instance.address);
      instance.transport = listen.transport.use();
      for (const Component& protocol : listen.protocols) instance.protocols.push_back(protocol.use());
      instance.weight = offered.weight;
      instance.metadata = offered.metadata;
      for (const std::string& name : offered.registry) {
        auto registry = run_on(control(), [&] { return builder->named<Registry>(name); });
        if (!registry.ok()) return std::move(registry).error();
        const bool elsewhere = options.registries.at(name).use() != defaults::in_process_registry;
        if (elsewhere && is_loopback(instance.address) && !std::exchange(warned, true))
          log->warn("loopback", "registry " + name + " is told " + instance.address +
                                    ", which only this machine can reach; set server.listen[" + std::to_string(index) +
                                    "].announce to what others can");
        wanted.push_back({{{offered.name, offered.group, offered.version}, name, instance}, std::move(*registry)});
      }
    }
    if (wanted.size() == before) log->info("serving", offered.name + " (announced nowhere)");
  }
  auto announced = announcements->announce(std::move(wanted), [this] { return go_on().ok(); });
  if (announced.ok() || announced.error().code() != Errc::cancelled || go_on().ok()) return announced;
  left_behind_ = true;
  return go_on().error().prefix(announced.error().text());
}

}  // namespace tenon
