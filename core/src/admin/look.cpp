#include "admin/look.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "admin/inquiry.hpp"
#include "client/bound_reference.hpp"
#include "client/endpoint.hpp"
#include "log/log.hpp"
#include "server/server.hpp"
#include "tenon/app.hpp"
#include "tenon/plugin.hpp"

namespace tenon::admin {

namespace {

constexpr Duration patience = std::chrono::milliseconds(500);
constexpr std::size_t most_connections = 1000;  // a millisecond of an io thread
constexpr std::size_t longest_text = 256;

using std::chrono::duration_cast;
using std::chrono::milliseconds;

/// What one io thread knows.
struct LoopFacts {
  std::size_t calls = 0;
  std::size_t orphans = 0;
  std::size_t connections = 0;
  std::vector<ConnectionState> shown;
  std::map<std::size_t, std::vector<EndpointState>> endpoints;  // by the reference's index
  std::map<std::size_t, std::vector<Count>> counts;
};

/// What a cluster thinks of an endpoint, besides what its connections say.
struct Opinion {
  std::uint32_t weight = 0;  // as the registry says now
  std::uint32_t effective_weight = 0;  // hundredths
  TimePoint ejected_until{};
};
using Opinions = std::map<const tenon::Stats*, Opinion>;  // an endpoint is known by its statistics

// On the reference's thread. One that is found in two groups is one endpoint: it counts where it has most.
Opinions opinions_of(const ClusterInvoker& cluster) {
  Opinions all;
  for (const auto& member : *cluster.members()) {
    Opinion& one = all[&member->stats()];
    one.weight = std::max(one.weight, member->instance().weight);
    one.effective_weight = std::max(one.effective_weight, member->effective_weight());
    one.ejected_until = member->ejected_until();
  }
  return all;
}

// Texts that peers and registries chose: one line of UTF-8 that any serializer takes.
std::string plain(const std::string& text) { return one_line(text, longest_text); }

bool busier(const ConnectionState& a, const ConnectionState& b) {
  return std::pair(a.in_flight, a.unwritten) > std::pair(b.in_flight, b.unwritten);
}

/// A connection of either side, before it is worth copying its texts.
struct Candidate {
  const PeerInfo* peer = nullptr;
  const std::string* reference = nullptr;  // null: the server's
  TimePoint since{};
  std::size_t in_flight = 0;
  std::size_t unwritten = 0;
};

ConnectionState state_of(const Candidate& candidate, std::size_t io_thread, TimePoint now) {
  ConnectionState state;
  state.peer = plain(candidate.peer->peer);
  state.local = plain(candidate.peer->local);
  state.protocol = candidate.peer->protocol;
  state.identity = plain(candidate.peer->identity);
  state.secure = candidate.peer->secure;
  if (candidate.reference) state.reference = *candidate.reference;
  state.io_thread = static_cast<std::uint32_t>(io_thread);
  state.age = duration_cast<milliseconds>(now - candidate.since);
  state.in_flight = static_cast<std::uint32_t>(candidate.in_flight);
  state.unwritten = candidate.unwritten;
  return state;
}

EndpointHealth health_of(const RemoteEndpoint& endpoint) {
  if (endpoint.retired()) return EndpointHealth::leaving;
  switch (endpoint.health()) {
    case Health::open: return EndpointHealth::open;
    case Health::busy: return EndpointHealth::busy;
    case Health::closed: break;
  }
  return EndpointHealth::closed;
}

// `opinion`: null: it is no member any more.
EndpointState state_of(const RemoteEndpoint& endpoint, const EndpointSettings& settings, const Opinion* opinion) {
  EndpointState state;
  const Instance& instance = endpoint.instance();
  state.id = plain(instance.id);
  state.address = plain(instance.address);
  state.transport = instance.transport.empty() ? settings.transport : plain(instance.transport);
  state.health = health_of(endpoint);
  state.weight = instance.weight;
  if (opinion) {
    state.weight = opinion->weight;
    state.effective_weight = opinion->effective_weight / 100.0;
    state.ejected = opinion->ejected_until != TimePoint();
    const Duration left = opinion->ejected_until - settings.loop->clock().now();
    if (state.ejected) state.ejected_for = std::max(std::chrono::ceil<milliseconds>(left), milliseconds(0));
  }
  endpoint.each_link([&state](const ClientConnection* connection, bool dialling) {
    if (connection) ++state.connections;
    if (dialling) ++state.connecting;
  });
  const tenon::Stats& stats = endpoint.stats();
  state.in_flight = stats.in_flight;
  state.calls = stats.calls;
  state.errors = stats.errors;
  state.faults = stats.faults;
  state.consecutive_faults = stats.consecutive_faults;
  state.latency_us = stats.latency_ewma_us;
  if (state.connections == 0) state.failure = plain(endpoint.last_failure().text());
  return state;
}

// On the io thread itself.
LoopFacts look_at(const AppFacts& facts, const std::vector<OpenedReference>& references, std::size_t io_thread,
                  std::size_t limit) {
  Loop& loop = *facts.loops()[io_thread];
  LoopFacts found;
  found.calls = loop.outstanding;
  found.orphans = loop.orphans;
  std::vector<Candidate> open;
  if (const Server* server = facts.server())
    server->each_connection(loop, [&open](const ServerConnection& connection) {
      open.push_back({&connection.peer(), nullptr, connection.since(), connection.in_flight(), connection.unwritten()});
    });
  for (std::size_t index = 0; index < references.size(); ++index) {
    const OpenedReference& reference = references[index];
    if (reference.io_thread != io_thread) continue;
    Opinions opinions;
    const std::shared_ptr<BoundReference> bound = reference.reference.lock();
    if (const ClusterInvoker* cluster = bound ? bound->known_cluster() : nullptr) {
      opinions = opinions_of(*cluster);
      found.counts[index] = cluster->counts();
    }
    for (const RemoteEndpoint* endpoint : reference.settings->endpoints) {
      const auto opinion = opinions.find(&endpoint->stats());
      found.endpoints[index].push_back(
          state_of(*endpoint, *reference.settings, opinion == opinions.end() ? nullptr : &opinion->second));
      endpoint->each_link([&](const ClientConnection* connection, bool) {
        if (connection)
          open.push_back({&connection->peer(), &reference.name, connection->since(), connection->pending().waiting(),
                          connection->unwritten()});
      });
    }
  }
  found.connections = open.size();
  const std::size_t shown = std::min(limit, open.size());
  std::partial_sort(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(shown), open.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return std::pair(a.in_flight, a.unwritten) > std::pair(b.in_flight, b.unwritten);
                    });
  const TimePoint now = loop.clock().now();
  for (std::size_t index = 0; index < shown; ++index) found.shown.push_back(state_of(open[index], io_thread, now));
  return found;
}

Stats put_together(const AppFacts& facts, const std::vector<OpenedReference>& references,
                   std::vector<std::optional<LoopFacts>> answers, std::size_t limit) {
  Stats stats;
  AppState& app = stats.app;
  app.application = facts.given().application;
  app.phase = facts.phase();
  app.pid = static_cast<std::uint32_t>(::getpid());
  app.up = duration_cast<milliseconds>(std::chrono::steady_clock::now() - facts.begun());
  app.build = stamp;
  app.io_threads = static_cast<std::uint32_t>(facts.loops().size());
  if (Server* server = facts.server()) {
    app.server_connections = server->settings().connections.load(std::memory_order_relaxed);
    app.server_calls = server->settings().in_flight.load(std::memory_order_relaxed);
  }
  for (const OpenedReference& reference : references) {
    ReferenceState& state = stats.references.emplace_back();
    state.name = reference.name;
    state.service = reference.settings->service.text();
    state.registry = reference.registry;
    state.io_thread = static_cast<std::uint32_t>(reference.io_thread);
  }
  for (std::size_t io_thread = 0; io_thread < answers.size(); ++io_thread) {
    if (!answers[io_thread]) {
      app.silent.push_back(static_cast<std::uint32_t>(io_thread));
      continue;
    }
    LoopFacts& answer = *answers[io_thread];
    app.client_calls += answer.calls;
    app.client_orphans += answer.orphans;
    stats.connections.total += answer.connections;
    std::move(answer.shown.begin(), answer.shown.end(), std::back_inserter(stats.connections.shown));
    for (auto& [index, endpoints] : answer.endpoints) stats.references[index].endpoints = std::move(endpoints);
    for (auto& [index, counts] : answer.counts) stats.references[index].counts = std::move(counts);
  }
  std::sort(stats.connections.shown.begin(), stats.connections.shown.end(), busier);
  if (stats.connections.shown.size() > limit) stats.connections.shown.resize(limit);
  for (ReferenceState& reference : stats.references)
    for (const EndpointState& endpoint : reference.endpoints) reference.in_flight += endpoint.in_flight;
  stats.listeners = listeners_of(facts);
  stats.pools = pools_of(facts);
  return stats;
}

}  // namespace

Task<Stats> look(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home, std::size_t limit) {
  limit = std::min(limit, most_connections);
  auto references = std::make_shared<const std::vector<OpenedReference>>(facts->references());
  Inquiry<LoopFacts>::Question question = [facts, references, limit](std::size_t io_thread) {
    return look_at(*facts, *references, io_thread, limit);
  };
  Inquiry<LoopFacts> inquiry(std::move(home), facts->loops(), std::move(question), patience);
  std::vector<std::optional<LoopFacts>> answers = co_await inquiry;
  co_return put_together(*facts, *references, std::move(answers), limit);
}

std::vector<ListenerState> listeners_of(const AppFacts& facts) {
  std::vector<ListenerState> listeners;
  const Server* const server = facts.server();
  if (!server) return listeners;
  const std::vector<std::string> addresses = server->addresses();
  for (std::size_t index = 0; index < addresses.size(); ++index) {
    const ListenOptions& chosen = facts.used().server.listen[index];
    ListenerState& listener = listeners.emplace_back();
    listener.address = plain(addresses[index]);
    listener.transport = chosen.transport.use();
    for (const Component& protocol : chosen.protocols) listener.protocols.push_back(protocol.use());
  }
  return listeners;
}

std::vector<PoolState> pools_of(const AppFacts& facts) {
  std::vector<PoolState> pools;
  Server* const server = facts.server();
  if (!server) return pools;
  for (const auto& [name, pool] : server->settings().pools) {
    const PoolCounts counts = pool->counts();
    PoolState& state = pools.emplace_back();
    state.name = counts.name;
    state.threads = static_cast<std::uint32_t>(counts.threads);
    state.busy = static_cast<std::uint32_t>(counts.busy);
    state.running = counts.running;
    state.queued = counts.queued;
    state.queue = counts.queue;
    state.rejected = counts.rejected;
    state.expired = counts.expired;
  }
  return pools;
}

std::vector<LoadedPlugin> plugins_of(const AppFacts& facts) {
  std::map<std::string, LoadedPlugin> by_origin;
  for (const plugin_host::LoadedEntry* loaded : facts.host().catalog().all()) {
    LoadedPlugin& plugin = by_origin[loaded->origin];
    plugin.name = loaded->plugin;
    plugin.version = loaded->version;
    plugin.origin = plain(loaded->origin);
    plugin.entries.push_back(std::string(loaded->entry.kind) + ' ' + loaded->entry.name);
  }
  std::vector<LoadedPlugin> plugins;
  for (auto& [origin, plugin] : by_origin) plugins.push_back(std::move(plugin));
  std::ranges::sort(plugins, {}, &LoadedPlugin::name);
  return plugins;
}

}  // namespace tenon::admin
