// The client's side of an App: references, read top to bottom in the order a call passes them.
#include "app/parts.hpp"
#include "client/endpoint.hpp"
#include "client/fixed_registry.hpp"
#include "connection/limits.hpp"
#include "loop/run_on.hpp"
#include "loop/wait_for.hpp"

namespace tenon {

Result<std::shared_ptr<BoundReference>> App::Parts::open_reference(const std::string& name,
                                                                   const ReferenceOptions& chosen) {
  {
    std::lock_guard lock(references_mutex_);
    if (const auto found = references_.find(name); found != references_.end()) return found->second;
  }
  const std::string path = "client.references." + name;
  // A registry calls its watchers on the control thread, so what it feeds lives there; fixed addresses need no registry
  // and are spread over the io threads.
  const std::size_t io_thread = chosen.address.empty() ? 0 : references_.size() % loops.size();
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
  if (chosen.router) {
    auto router = builder->make<Router>(chosen.router, path + ".router");
    if (!router.ok()) return std::move(router).error();
    parts.router = std::move(*router);
  }
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
  settings->connections = chosen.connections;
  settings->eager = chosen.connect == ConnectWhen::eager;
  settings->max_in_flight = chosen.max_in_flight;
  parts.dialer = std::make_shared<EndpointDialer>(settings);

  // Where instances come from.
  if (!chosen.address.empty()) {
    parts.registries.push_back(std::make_shared<FixedRegistry>(chosen.address, settings->transport, loop));
  } else {
    auto registry = builder->named<Registry>(chosen.registry);
    if (!registry.ok()) return std::move(registry).error().prefix(path + ".registry");
    parts.registries.push_back(std::move(*registry));
  }

  auto opened = run_on(loop, [&] {
    loop.refresh();
    return BoundReference::open(chosen, home, std::move(*cluster), std::move(parts), std::move(*filters));
  });
  if (!opened.ok()) return std::move(opened).error().prefix(path);
  std::lock_guard lock(references_mutex_);
  endpoint_settings_.push_back(settings);
  facts_->opened({name, chosen.registry, io_thread, settings});
  references_.emplace(name, *opened);
  return opened;
}

Result<void> App::Parts::open_references() {
  for (const auto& [name, chosen] : options.client.references) {
    auto opened = run_on(control(), [&, &name = name, &chosen = chosen] { return open_reference(name, chosen); });
    if (!opened.ok()) return std::move(opened).error();
  }
  // Eager references: the first call should find an open connection. They connect at the same time.
  const TimePoint begun = std::chrono::steady_clock::now();
  for (const auto& [name, reference] : references_) {
    const ReferenceOptions& chosen = options.client.references.at(name);
    if (chosen.connect != ConnectWhen::eager) continue;
    auto ready = wait_for(reference->loop(), [&, &reference = reference] {
      return reference->cluster().ready(begun + chosen.connect_timeout);
    });
    if (!ready.ok()) log->warn("not-ready", "client.references." + name + ": " + ready.error().text());
  }
  return {};
}

}  // namespace tenon
