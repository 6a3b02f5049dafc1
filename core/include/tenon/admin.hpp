#pragma once
// What a process tells about itself: the answers of the service tenon.Admin, which an App offers on the unix socket
// that `admin.listen` names. The socket's mode is 0600, so those who may ask are those who may also send signals: its
// user and root. They may use the methods that change something, too.
//
//   state()                  -> AppState          listeners()  -> list of ListenerState
//   connections(limit: u32)  -> ConnectionList    pools()      -> list of PoolState
//   references()             -> list of ReferenceState
//   plugins()                -> list of LoadedPlugin
//   config()                 -> list of ConfigValue: every value in force, with its origin
//   stats(limit: u32)        -> Stats: the first five in one answer, of one moment for each io thread
//   health()                 -> HealthState
//   ready(), live()          -> "ready", "live"; fails with unavailable, saying what is missing (HTTP: 200 or 503)
//
// These change something:
//
//   drain(grace_ms: i64)     -> AppState: asks the application to stop as SIGTERM does; negative: server.grace
//   pause()                  -> AppState: takes no traffic from now on, but stays: registries are told (serving:
//                               false), then calls that come all the same are refused (unavailable, not run)
//   resume()                 -> AppState: the end of that
//
// All but these three are idempotent. What only an io thread knows is asked of it and waited for at most half a second;
// AppState::silent names those that did not answer, whose connections, references and calls are then missing.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/cluster.hpp"
#include "tenon/describe.hpp"

namespace tenon::admin {

inline constexpr std::string_view interface = "tenon.Admin";

enum class Phase {
  starting,
  ready,
  draining,  ///< told to stop: calls in flight end
  stopped,
  paused,  ///< told to take no traffic for a while
};
BOOST_DESCRIBE_ENUM(Phase, starting, ready, draining, stopped, paused)

/// The application as a whole. Calls to tenon.Admin itself are not counted.
struct AppState {
  std::string application;
  Phase phase = Phase::starting;
  std::uint32_t pid = 0;
  std::chrono::milliseconds up{0};  ///< since it began to start
  std::string build;                ///< what plugins must fit: ABI, compiler, Boost …
  std::uint32_t io_threads = 0;
  std::vector<std::uint32_t> silent;  ///< io threads (from 0) that did not answer in time: a handler blocks them?
  std::uint64_t server_connections = 0;
  std::uint64_t server_calls = 0;    ///< being served, those included that wait in a pool
  std::uint64_t client_calls = 0;    ///< attempts waiting for a reply or a connection, connection attempts
  std::uint64_t client_orphans = 0;  ///< given up here, not yet answered by the peer
};
BOOST_DESCRIBE_STRUCT(AppState, (),
                      (application, phase, pid, up, build, io_threads, silent, server_connections, server_calls,
                       client_calls, client_orphans))

/// What probes ask.
struct HealthState {
  bool live = false;   ///< every io thread answers, and it has not stopped
  bool ready = false;  ///< it may be called: live, listening, warm, announced, not paused or draining, and each of its
                       ///< references with `check` has somebody to call
  Phase phase = Phase::starting;
  std::vector<std::string> missing;  ///< why it is not ready, a sentence each
};
BOOST_DESCRIBE_STRUCT(HealthState, (), (live, ready, phase, missing))

/// A port of server.listen. It takes new connections while the phase is ready.
struct ListenerState {
  std::string address;  ///< bound, with the real port
  std::string transport;
  std::vector<std::string> protocols;
};
BOOST_DESCRIBE_STRUCT(ListenerState, (), (address, transport, protocols))

struct ConnectionState {
  std::string peer;
  std::string local;
  std::string protocol;
  std::string identity;  ///< the peer's authenticated name; empty: not known
  bool secure = false;
  std::string reference;  ///< empty: accepted by the server; else the reference that opened it
  std::uint32_t io_thread = 0;
  std::chrono::milliseconds age{0};
  std::uint32_t in_flight = 0;  ///< calls
  std::uint64_t unwritten = 0;  ///< bytes that wait to be written
};
BOOST_DESCRIBE_STRUCT(ConnectionState, (),
                      (peer, local, protocol, identity, secure, reference, io_thread, age, in_flight, unwritten))

/// The busiest connections first: most calls in flight, then most unwritten bytes. At most 1000 are shown.
struct ConnectionList {
  std::uint64_t total = 0;  ///< open, shown or not
  std::vector<ConnectionState> shown;
};
BOOST_DESCRIBE_STRUCT(ConnectionList, (), (total, shown))

/// A pool of server.pools.
struct PoolState {
  std::string name;
  std::uint32_t threads = 0;
  std::uint32_t busy = 0;
  std::uint64_t running = 0;   ///< handlers that began and have not ended, suspended ones included
  std::uint64_t queued = 0;    ///< requests waiting for a thread
  std::uint64_t queue = 0;     ///< how many may wait
  std::uint64_t rejected = 0;  ///< since the start: the queue was full
  std::uint64_t expired = 0;   ///< since the start: the deadline passed while it waited
};
BOOST_DESCRIBE_STRUCT(PoolState, (), (name, threads, busy, running, queued, queue, rejected, expired))

enum class EndpointHealth {
  open,
  busy,     ///< not connected yet, or every connection is full
  closed,   ///< waits until it may connect again
  leaving,  ///< no longer among the instances; its last calls end
};
BOOST_DESCRIBE_ENUM(EndpointHealth, open, busy, closed, leaving)

/// An instance that a reference calls.
struct EndpointState {
  std::string id;
  std::string address;
  std::string transport;
  EndpointHealth health = EndpointHealth::busy;
  std::uint32_t weight = 0;
  double effective_weight = 0;  ///< what it gets of it: less while it is new or recovers
  bool ejected = false;         ///< an outlier: it gets no calls until ejected_for is over and one has tried it
  std::chrono::milliseconds ejected_for{0};
  std::uint32_t connections = 0;  ///< open
  std::uint32_t connecting = 0;   ///< attempts under way
  std::uint32_t in_flight = 0;    ///< attempts of calls
  std::uint64_t calls = 0;        ///< attempts since it is known
  std::uint64_t errors = 0;
  std::uint64_t faults = 0;              ///< errors that speak against the instance (tenon/cluster.hpp, Stats)
  std::uint32_t consecutive_faults = 0;
  double latency_us = 0;                 ///< moving average, half-life about 16 calls
  std::string failure;                   ///< why it is not connected; empty: it is, or was not tried
};
BOOST_DESCRIBE_STRUCT(EndpointState, (),
                      (id, address, transport, health, weight, effective_weight, ejected, ejected_for, connections,
                       connecting, in_flight, calls, errors, faults, consecutive_faults, latency_us, failure))

/// A reference of client.references, once it is open.
struct ReferenceState {
  std::string name;
  std::string service;   ///< "group/interface:version" as messages show it
  std::string registry;  ///< empty: it has fixed addresses
  std::uint32_t io_thread = 0;
  std::uint64_t in_flight = 0;
  std::vector<EndpointState> endpoints;
  std::vector<Count> counts;  ///< retries, ejections, what its HA strategy counts
};
BOOST_DESCRIBE_STRUCT(ReferenceState, (), (name, service, registry, io_thread, in_flight, endpoints, counts))

struct LoadedPlugin {
  std::string name;
  std::string version;
  std::string origin;                ///< its file; "NAME (built in)"
  std::vector<std::string> entries;  ///< what it offers: "transport tcp"
};
BOOST_DESCRIBE_STRUCT(LoadedPlugin, (), (name, version, origin, entries))

/// One value in force. Text under a name that contains password, passwd, passphrase, secret, token or credential, or
/// has key, apikey or auth as one of its words ("api_key", "apiKey"), is "***", and so is the password in a URL.
/// Numbers, times and sizes are shown.
struct ConfigValue {
  std::string path;    ///< as in a manifest: "server.listen[0].backlog"
  std::string value;   ///< as a manifest would write it; empty: none (an empty text is "")
  std::string origin;  ///< "file:line:col"; "default"; "program": set by code or its command line
};
BOOST_DESCRIBE_STRUCT(ConfigValue, (), (path, value, origin))

struct Stats {
  AppState app;
  std::vector<ListenerState> listeners;
  ConnectionList connections;
  std::vector<PoolState> pools;
  std::vector<ReferenceState> references;
};
BOOST_DESCRIBE_STRUCT(Stats, (), (app, listeners, connections, pools, references))

}  // namespace tenon::admin
