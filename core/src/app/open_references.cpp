// The client's side of an App: references, read top to bottom in the order a call passes them.
#include <algorithm>

#include "app/parts.hpp"
#include "app/watched_attempts.hpp"
#include "client/endpoint.hpp"
#include "client/fixed_registry.hpp"
#include "connection/limits.hpp"
#include "loop/run_on.hpp"
#include "loop/wait_for.hpp"
#include "tenon/scope.hpp"

namespace tenon {

namespace {

constexpr Duration look_again = std::chrono::milliseconds(5);

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string in_milliseconds(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) + " ms";
}

/// Some instance is known; false: none until `limit`.
Task<bool> named_by(std::shared_ptr<BoundReference> reference, TimePoint limit) {
  Clock& clock = reference->loop().clock();
  while (reference->cluster().members()->empty()) {
    if (clock.now() >= limit) co_return false;
    sleep_until pause(clock, std::min(limit, clock.now() + look_again));
    (void)co_await pause;
  }
  co_return true;
}

}  // namespace

Result<std::shared_ptr<BoundReference>> App::Parts::open_reference(const std::string& name,
                                                                   const ReferenceOptions& chosen, Usage usage) {
  {
    std::lock_guard lock(references_mutex_);
    if (const auto found = references_.find(name); found != references_.end()) return found->second;
  }
  const std::string path = "client.references." + name;
  // Registries call their watchers on the control thread, so what they feed lives there, and so do other components;
  // fixed addresses need no registry and are spread over the io threads.
  const bool anywhere = !chosen.address.empty() && usage == Usage::by_callers;
  const std::size_t io_thread = anywhere ? references_.size() % loops.size() : 0;
  const std::shared_ptr<Loop>& home = loops[io_thread];
  Loop& loop = *home;

  // Around the call.
  auto filters = make_list<Filter>(chosen.filters, path + ".filters");
  if (!filters.ok()) return std::move(filters).error();
  auto cluster = builder->make<Cluster>(chosen.cluster, path + ".cluster");
  if (!cluster.ok()) return std::move(cluster).error();
  ClusterParts parts;
  parts.service = ServiceName{chosen.service, chosen.group, chosen.version};
  parts.subscriber = options.application;
  parts.executor = &loop;
  parts.log = log.get();
  auto routers = make_list<Router>(chosen.router, path + ".router");
  if (!routers.ok()) return std::move(routers).error();
  parts.routers = std::move(*routers);
  auto ha = builder->make<HaStrategy>(chosen.ha, path + ".ha");
  if (!ha.ok()) return std::move(ha).error();
  parts.ha = std::move(*ha);
  auto balancer = builder->make<Balancer>(chosen.balancer, path + ".balancer");
  if (!balancer.ok()) return std::move(balancer).error();
  parts.balancer = std::move(*balancer);

  // Around an attempt.
  auto settings = std::make_shared<EndpointSettings>();
  settings->service = parts.service;
  settings->loop = &loop;
  settings->log = log.get();
  auto attempt_filters = make_list<Filter>(chosen.attempt_filters, path + ".attempt_filters");
  if (!attempt_filters.ok()) return std::move(attempt_filters).error();
  settings->attempt_filters = std::move(*attempt_filters);

  // Encode.
  auto known = encodings(chosen.limits.max_frame);
  if (!known.ok()) return std::move(known).error();
  settings->encodings = std::move(*known);
  auto serializer = builder->make<Serializer>(chosen.serializer, path + ".serializer");
  if (!serializer.ok()) return std::move(serializer).error();
  std::shared_ptr<Compressor> compressor;
  if (chosen.compress) {
    auto made = builder->make<Compressor>(chosen.compress, path + ".compress");
    if (!made.ok()) return std::move(made).error();
    compressor = std::move(*made);
  }
  settings->own_serializer = std::move(*serializer);
  settings->own_compressor = std::move(compressor);
  settings->own_encoding =
      Encoding{settings->own_serializer.get(), settings->own_compressor.get(), chosen.limits.max_frame};
  settings->encoding = &settings->own_encoding;
  settings->content_type = settings->own_serializer->content_type();

  // Connection: protocol over transport.
  auto protocol = builder->make<Protocol>(chosen.protocol, path + ".protocol");
  if (!protocol.ok()) return std::move(protocol).error();
  const Demands demands{settings->encoding->serializer->content_type(),
                        settings->encoding->compressor ? settings->encoding->compressor->encoding() : "", false};
  if (auto checked = (*protocol)->check(demands); !checked.ok()) return std::move(checked).error().prefix(path);
  settings->protocol = std::move(*protocol);
  for (const std::string_view transport : host->catalog().names(Transport::kind)) {
    const bool own = transport == chosen.transport.use();
    auto made = builder->make<Transport>(own ? chosen.transport : Component(std::string(transport)),
                                         path + ".transport");
    if (!made.ok()) return std::move(made).error();
    settings->transports.emplace(std::string(transport), std::move(*made));
  }
  settings->transport = chosen.transport.use();
  if (!settings->transports.contains(settings->transport)) {
    auto made = builder->make<Transport>(chosen.transport, path + ".transport");  // fails, saying what there is
    if (!made.ok()) return std::move(made).error();
    settings->transports.emplace(settings->transport, std::move(*made));
  }
  settings->limits = limits_of(chosen.limits);
  settings->connection.heartbeat = chosen.heartbeat;
  settings->connection.heartbeat_misses = chosen.heartbeat_misses;
  settings->connection.max_unwritten = chosen.max_unwritten;
  settings->connect_timeout = chosen.connect_timeout;
  settings->max_reconnect_pause = chosen.max_reconnect_pause;
  settings->connections = chosen.connections;
  settings->eager = chosen.connect == ConnectWhen::eager;
  settings->max_in_flight = chosen.max_in_flight;
  parts.dialer = std::make_shared<EndpointDialer>(settings);
  if (const auto watched = attempt_watchers.find(name); watched != attempt_watchers.end())
    parts.dialer = watched_dialer(std::move(parts.dialer), watched->second);

  // Where instances come from.
  if (!chosen.address.empty()) {
    parts.registries.push_back({"", std::make_shared<FixedRegistry>(chosen.address, settings->transport, loop)});
  } else {
    for (const std::string& registry_name : chosen.registry) {
      auto registry = builder->named<Registry>(registry_name);
      if (!registry.ok()) return std::move(registry).error().prefix(path + ".registry");
      parts.registries.push_back({registry_name, std::move(*registry)});
    }
    parts.cache = options.client.cache;
  }

  auto opened = run_on(loop, [&] {
    loop.refresh();
    return BoundReference::open(chosen, home, std::move(*cluster), std::move(parts), std::move(*filters));
  });
  if (!opened.ok()) return std::move(opened).error().prefix(path);
  std::lock_guard lock(references_mutex_);
  endpoint_settings_.push_back(settings);
  facts_->opened({name, listed(chosen.registry), io_thread, settings, *opened, chosen.check});
  references_.emplace(name, *opened);
  return opened;
}

Result<void> App::Parts::open_references() {
  for (const auto& [name, chosen] : options.client.references) {
    auto opened = run_on(control(), [&, &name = name, &chosen = chosen] {
      return open_reference(name, chosen, Usage::by_callers);
    });
    if (!opened.ok()) return std::move(opened).error();
  }
  return await_instances();
}

// The first call should find an open connection. References connect at the same time.
Result<void> App::Parts::await_instances() {
  const TimePoint begun = std::chrono::steady_clock::now();
  const auto patient = [this] { return go_on().ok(); };
  for (const auto& [name, reference] : references_) {
    const auto described = options.client.references.find(name);
    if (described == options.client.references.end()) continue;  // an address of a component's, which waits itself
    const ReferenceOptions& chosen = described->second;
    const bool eager = chosen.connect == ConnectWhen::eager;
    if (!eager && !chosen.check) continue;
    const std::shared_ptr<BoundReference>& opened = reference;
    // Nobody waits for them any more once somebody has asked to stop; then they go on as long as the loop runs.
    const auto named = [&](TimePoint limit) {
      const auto found = wait_while(opened->loop(), patient, [opened, limit] { return named_by(opened, limit); });
      left_behind_ = left_behind_ || !found;
      return found.value_or(false);
    };
    const auto connected = [&](TimePoint limit) {
      auto found = wait_while(opened->loop(), patient, [opened, limit] { return opened->cluster().ready(limit); });
      left_behind_ = left_behind_ || !found;
      return found ? std::move(*found) : go_on();
    };
    TimePoint limit = begun + chosen.connect_timeout;
    bool known = true;
    if (chosen.check) {
      known = named(limit);
      if (!known) {
        // When this has ended, the cluster goes on without the registries, perhaps with what they said last time.
        (void)connected(limit);
        known = named(limit);
      }
      limit = known ? std::chrono::steady_clock::now() + chosen.connect_timeout : limit;
      if (known && !eager) continue;
    }
    auto ready = connected(limit);
    if (auto on = go_on(); !on.ok()) return on;
    if (known && ready.ok()) continue;
    const std::string where = "client.references." + name + ": ";
    const std::string why = ready.ok() ? "it named nobody in time" : ready.error().text();
    if (!chosen.check) {
      log->warn("not-ready", where + why);
      continue;
    }
    const std::string source =
        chosen.registry.empty() ? "address " + chosen.address : "registry " + listed(chosen.registry);
    const std::string found = known ? " named instances, but none could be connected" : " named no instance";
    return Error(Errc::unavailable,
                 where + source + found + " within " + in_milliseconds(chosen.connect_timeout) +
                     ", and without one this application must not start (check: true): " + why,
                 Delivery::not_run);
  }
  return {};
}

}  // namespace tenon
