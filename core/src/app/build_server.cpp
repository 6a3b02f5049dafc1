// The server's side of an App: what is offered, and where it listens. announce.cpp goes on.
#include <algorithm>

#include "app/parts.hpp"
#include "connection/limits.hpp"
#include "manifest/nearest.hpp"
#include "server/descriptors.hpp"

namespace tenon {

namespace {

/// Where each method of a service runs, by its index; null: inline. The pools' names have been checked.
Result<std::vector<Pool*>> pools_of(const ServiceOptions& chosen, const std::string& path, const Service& service,
                                    const ServerSettings& settings) {
  const auto pool = [&settings](const std::string& name) {
    const auto found = settings.pools.find(name);
    return found == settings.pools.end() ? nullptr : found->second.get();
  };
  std::vector<std::string_view> names;
  for (const Method& method : service.methods()) names.push_back(method.name);
  std::vector<Pool*> pools(names.size(), pool(chosen.pool));
  for (const auto& [name, method] : chosen.methods) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string hint = did_you_mean(name, names);
      return Error(Errc::config, path + ".methods." + name + ": service " + chosen.name + " has no method \"" + name +
                                     '"' + (hint.empty() ? "; it has: " + listed(names) : hint));
    }
    if (method.pool) pools[static_cast<std::size_t>(found - names.begin())] = pool(*method.pool);
  }
  return pools;
}

}  // namespace

Result<void> App::Parts::offer(ServerSettings& settings) {
  auto find = [this](const std::string& name) -> Result<std::shared_ptr<Service>> {
    for (const auto& service : provided)
      if (service->interface() == name) return service;
    return builder->make<Service>(Component(name), "server.services " + name);
  };
  std::vector<ServiceOptions> offers = options.server.services;
  if (offers.empty())
    for (const auto& service : provided) offers.push_back({.name = std::string(service->interface())});
  for (std::size_t index = 0; index < offers.size(); ++index) {
    const ServiceOptions& chosen = offers[index];
    auto service = find(chosen.name);
    if (!service.ok()) return std::move(service).error();
    const std::string path = "server.services[" + std::to_string(index) + "]";
    auto filters = make_list<Filter>(chosen.filters, path + ".filters");
    if (!filters.ok()) return std::move(filters).error();
    auto pools = pools_of(chosen, path, **service, settings);
    if (!pools.ok()) return std::move(pools).error();
    auto offered = std::make_unique<Offered>(ServiceName{chosen.name, chosen.group, chosen.version},
                                             std::move(*service), std::move(*filters), std::move(*pools));
    if (auto added = settings.dispatcher.add(std::move(offered)); !added.ok()) return added;
  }
  // Generic callers ask this service what the others look like.
  std::vector<std::shared_ptr<Service>> described;
  for (const auto& offered : settings.dispatcher.services())
    described.push_back(std::shared_ptr<Service>(std::shared_ptr<void>(), &offered->service()));
  auto descriptors = make_descriptors(std::move(described));
  auto offered = std::make_unique<Offered>(ServiceName{std::string(descriptors->interface()), "", ""},
                                           std::move(descriptors), std::vector<std::shared_ptr<Filter>>());
  return settings.dispatcher.add(std::move(offered));
}

Result<void> App::Parts::build_server() {
  const ServerOptions& chosen = options.server;
  auto settings = std::make_unique<ServerSettings>();
  settings->log = log.get();
  settings->max_in_flight = chosen.max_in_flight;
  settings->max_connections = chosen.max_connections;
  settings->limits = limits_of(chosen.limits);
  // A large reply leaves in parts, with others in between, so it stops nobody by itself.
  settings->connection.max_unwritten = chosen.max_unwritten + chosen.limits.max_frame;
  settings->connection.pause_reading = true;
  settings->connection.total = &settings->unwritten;
  settings->connection.max_total = chosen.max_unwritten_total;
  settings->connection.heartbeat = chosen.heartbeat;
  settings->connection.heartbeat_misses = chosen.heartbeat_misses;
  auto known = encodings(chosen.limits.max_frame);
  if (!known.ok()) return std::move(known).error();
  settings->encodings = std::move(*known);
  Demands demands;
  if (chosen.compress) {
    auto compressor = builder->make<Compressor>(chosen.compress, "server.compress");
    if (!compressor.ok()) return std::move(compressor).error();
    settings->compressor = std::move(*compressor);
    demands.compressor = settings->compressor->encoding();
  }
  for (const auto& [name, pool] : chosen.pools) {
    auto started = Pool::start(name, pool.threads, pool.queue);
    if (!started.ok()) return std::move(started).error();
    settings->pools.emplace(name, std::move(*started));
  }
  if (auto offered = offer(*settings); !offered.ok()) return offered;

  std::vector<Loop*> all;
  for (const auto& loop : loops) all.push_back(loop.get());
  server = std::make_unique<Server>(std::move(settings), std::move(all));
  for (std::size_t index = 0; index < chosen.listen.size(); ++index) {
    const ListenOptions& listen = chosen.listen[index];
    const std::string path = "server.listen[" + std::to_string(index) + "]";
    auto transport = builder->make<Transport>(listen.transport, path);
    if (!transport.ok()) return std::move(transport).error();
    if (auto checked = (*transport)->check(listen.address); !checked.ok())
      return std::move(checked).error().prefix(path + ".address");
    if (!listen.announce.empty() && listen.announce != announce_nowhere)
      if (auto checked = (*transport)->check(listen.announce); !checked.ok())
        return std::move(checked).error().prefix(path + ".announce");
    std::vector<std::shared_ptr<const Protocol>> protocols;
    for (std::size_t at = 0; at < listen.protocols.size(); ++at) {
      auto protocol = builder->make<Protocol>(listen.protocols[at], path + ".protocols[" + std::to_string(at) + "]");
      if (!protocol.ok()) return std::move(protocol).error();
      if (auto checked = (*protocol)->check(demands); !checked.ok())
        return std::move(checked).error().prefix("server.compress");
      protocols.push_back(std::move(*protocol));
    }
    if (auto bound = server->listen(listen.address, std::move(*transport), std::move(protocols)); !bound.ok())
      return bound;
  }
  return {};
}

}  // namespace tenon
