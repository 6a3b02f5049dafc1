#pragma once
// Everything an App can be told. A manifest is one way to fill AppOptions (load_manifest), code is the other:
//
//   tenon::AppOptions options;
//   options.plugins.load = {"transport-tcp", "protocol-tenon", "serialize-json", "cluster"};
//   options.client.references["greeter"] = {.service = "demo.Greeter", .address = "127.0.0.1:4080"};
//   tenon::App app(std::move(options));
//
// The member names are the manifest's keys, and the default values here are the manifest's defaults; a Component left
// empty takes the plugin named in core/src/defaults.hpp. Times need a unit in a manifest ("5s", "250ms"). Where a
// manifest has a list of texts or components, a single one may stand without brackets: `registry: main`.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/clock.hpp"
#include "tenon/component.hpp"
#include "tenon/core_export.hpp"
#include "tenon/describe.hpp"
#include "tenon/result.hpp"

namespace tenon {

namespace manifest {
struct Document;
}
struct Plugin;

/// The plugins linked into this program (-DTENON_STATIC_PLUGINS=ON), ended by null. Null: it has none.
TENON_CORE const Plugin* const* built_in_plugins() noexcept;

/// Which plugins to load, and from where.
struct PluginOptions {
  std::vector<std::string> search;  ///< directories; a manifest's relative ones are relative to its own folder
  std::vector<std::string> load;    ///< names without directory and ".so"
  bool probe = true;                ///< open each in a child process first
  std::string probe_program;        ///< absolute path of tenon-probe; empty: found beside the core library
  Duration probe_timeout = std::chrono::seconds(10);
  /// Plugins that are no files: found by `load` before any file, never probed. A table ended by null, which outlives
  /// the App; null: none. No key of a manifest.
  const Plugin* const* built_in = built_in_plugins();
};
BOOST_DESCRIBE_STRUCT(PluginOptions, (), (search, load, probe, probe_program, probe_timeout))

enum class LogLevel { trace, debug, info, warn, error, off };
BOOST_DESCRIBE_ENUM(LogLevel, trace, debug, info, warn, error, off)

struct LogOptions {
  LogLevel level = LogLevel::info;
  std::string file;               ///< appended to; empty: standard error
  std::uint32_t per_second = 10;  ///< lines per cause and second; 0: no limit
};
BOOST_DESCRIBE_STRUCT(LogOptions, (), (level, file, per_second))

struct RuntimeOptions {
  std::uint32_t io_threads = 1;  ///< 1 … 256
};
BOOST_DESCRIBE_STRUCT(RuntimeOptions, (), (io_threads))

/// Bounds of one connection, enforced before anything is allocated.
struct LimitOptions {
  ByteSize max_frame = 4u << 20;     ///< one body, and its inflated form
  ByteSize max_headers = 64u << 10;  ///< one frame's headers
  std::uint32_t max_header_count = 128;
  std::uint32_t max_concurrent = 65536;  ///< requests in flight on one connection
  ByteSize stream_window = 256u << 10;   ///< what a stream's sender may be ahead of this reader
};
BOOST_DESCRIBE_STRUCT(LimitOptions, (), (max_frame, max_headers, max_header_count, max_concurrent, stream_window))

/// ListenOptions::announce of a port that is not announced.
inline constexpr std::string_view announce_nowhere = "none";

/// One port. `transport` stands inline: `{ use: tcp, address: …, protocols: […], <options of tcp> }`.
struct ListenOptions {
  std::string address;               ///< in the transport's form: "0.0.0.0:4080"
  std::vector<Component> protocols;  ///< all share the port; at least one
  /// What registries are told instead of `address`, in the transport's form, port 0 being the one that is bound. Empty:
  /// the address, and for one that means every interface (0.0.0.0, [::]) that of the interface with the default route,
  /// else of the first one by name that is up and no loopback. "none": this port is not announced.
  std::string announce;
  InlineComponent transport;
};
BOOST_DESCRIBE_STRUCT(ListenOptions, (), (address, protocols, announce, transport))

/// Threads that serve requests beside the io threads. Services and methods that name a pool share it; isolation is
/// naming different ones. Handlers in a pool may block, and are called from all its threads at once.
struct PoolOptions {
  std::uint32_t threads = 4;   ///< 1 … 1024
  std::uint32_t queue = 1000;  ///< 1 … 1000000 requests that wait for a thread; beyond it: overloaded
};
BOOST_DESCRIBE_STRUCT(PoolOptions, (), (threads, queue))

/// The pool of whatever runs on the io thread of its connection. "" means the same.
inline constexpr std::string_view inline_pool = "inline";

/// What differs for one method of an offered service.
struct OfferedMethodOptions {
  std::optional<std::string> pool;  ///< not set: the service's
};
BOOST_DESCRIBE_STRUCT(OfferedMethodOptions, (), (pool))

/// One service to offer. The implementation is App::provide()'s or a plugin's of kind "service".
struct ServiceOptions {
  std::string name;  ///< the interface: "demo.Greeter"
  std::string group;
  std::string version;
  std::vector<std::string> registry;  ///< names of AppOptions::registries, each is told; empty: announced nowhere
  std::vector<Component> filters;  ///< outermost first; see requests before their payload is decoded
  std::uint32_t weight = 100;      ///< announced; 0: takes no traffic
  std::map<std::string, std::string> metadata;
  std::string pool;  ///< a name of ServerOptions::pools; "" or "inline": on the connection's io thread
  std::map<std::string, OfferedMethodOptions> methods;
};
BOOST_DESCRIBE_STRUCT(ServiceOptions, (),
                      (name, group, version, registry, filters, weight, metadata, pool, methods))

struct ServerOptions {
  std::vector<ListenOptions> listen;
  std::vector<ServiceOptions> services;
  std::map<std::string, PoolOptions> pools;
  Duration grace = std::chrono::seconds(10);  ///< for calls in flight when told to stop
  std::uint32_t max_in_flight = 100000;       ///< calls being served, all connections
  std::uint32_t max_connections = 10000;
  /// Replies waiting on one connection besides the largest there may be (limits.max_frame); beyond it reading stops.
  ByteSize max_unwritten = 4u << 20;
  /// Replies waiting on all connections; beyond it those with more than 64 KiB waiting stop reading.
  ByteSize max_unwritten_total = 256u << 20;
  LimitOptions limits;
  Duration heartbeat = std::chrono::seconds(5);  ///< of an idle connection, where the protocol lets a server ask
  std::uint32_t heartbeat_misses = 5;            ///< in a row: the connection is dead
  Component compress;  ///< replies to peers that can read it, also when they sent nothing compressed; empty: not
};
BOOST_DESCRIBE_STRUCT(ServerOptions, (),
                      (listen, services, pools, grace, max_in_flight, max_connections, max_unwritten,
                       max_unwritten_total, limits, heartbeat, heartbeat_misses, compress))

/// What differs for one method of a reference.
struct MethodOptions {
  std::optional<bool> idempotent;
  std::optional<Duration> timeout;
  std::optional<std::uint32_t> retries;
};
BOOST_DESCRIBE_STRUCT(MethodOptions, (), (idempotent, timeout, retries))

enum class ConnectWhen {
  eager,  ///< at start, and again after every loss
  lazy,   ///< with the first call
};
BOOST_DESCRIBE_ENUM(ConnectWhen, eager, lazy)

/// One service as this application calls it. Instances come from every `registry`, or are the `address` list.
struct ReferenceOptions {
  std::string service;  ///< the interface: "demo.Greeter"
  std::string group;
  std::string version;
  std::vector<std::string> registry;  ///< names of AppOptions::registries
  std::string address;                ///< instead of a registry: "host:port", or several separated by commas
  Component transport;   ///< for `address`, and for instances that do not name one
  Component protocol;
  Component serializer;
  Component compress;                          ///< empty: bodies are not compressed
  Duration timeout = std::chrono::seconds(1);  ///< of a whole call, retries included
  Duration connect_timeout = std::chrono::seconds(1);
  /// Pauses between attempts to connect one instance grow from 0.1 s to this.
  Duration max_reconnect_pause = std::chrono::seconds(30);
  std::uint32_t connections = 1;  ///< per instance
  ConnectWhen connect = ConnectWhen::eager;
  /// True: start() fails when no instance is known within connect_timeout, or, with eager connecting, none could be
  /// connected within another connect_timeout. False: that is a warning, and calls fail until there is one.
  bool check = false;
  Component cluster;
  std::vector<Component> router;  ///< each narrows what the one before it chose; empty: none
  Component balancer;
  Component ha;
  std::vector<Component> filters;          ///< around a call, once; outermost first
  std::vector<Component> attempt_filters;  ///< around each attempt
  std::map<std::string, MethodOptions> methods;
  std::uint32_t max_in_flight = 100000;          ///< calls; beyond it: overloaded
  ByteSize max_unwritten = 4u << 20;             ///< waiting on one connection; beyond it: overloaded
  Duration heartbeat = std::chrono::seconds(5);  ///< of an idle connection
  std::uint32_t heartbeat_misses = 5;            ///< in a row: the connection is dead
  LimitOptions limits;
};
BOOST_DESCRIBE_STRUCT(ReferenceOptions, (),
                      (service, group, version, registry, address, transport, protocol, serializer, compress, timeout,
                       connect_timeout, max_reconnect_pause, connections, connect, check, cluster, router, balancer, ha,
                       filters, attempt_filters, methods, max_in_flight, max_unwritten, heartbeat, heartbeat_misses,
                       limits))

struct ClientOptions {
  /// A folder for what registries said last, so that references can start without them; made (mode 0700) if there is
  /// none. A manifest's relative one is relative to its own folder. Empty: nothing is kept.
  std::string cache;
  std::map<std::string, ReferenceOptions> references;
};
BOOST_DESCRIBE_STRUCT(ClientOptions, (), (cache, references))

/// Where this process may be asked what it is doing (service tenon.Admin, tenon/admin.hpp).
struct AdminOptions {
  /// "unix:" and an absolute path. The socket's mode is 0600 from its first moment: only this user, and root, may ask.
  std::string listen;
  std::vector<Component> protocols;  ///< spoken there; empty: the default protocol
};
BOOST_DESCRIBE_STRUCT(AdminOptions, (), (listen, protocols))

struct AppOptions {
  std::string application;  ///< who this is, to registries and peers
  PluginOptions plugins;
  LogOptions log;
  RuntimeOptions runtime;
  std::map<std::string, Component> registries;
  /// Components that options of others refer to by name (Use<Kind>): kind, then name.
  std::map<std::string, std::map<std::string, Component>> components;
  ServerOptions server;
  ClientOptions client;
  std::optional<AdminOptions> admin;  ///< not set: nobody may ask, and it costs nothing
  /// What they were read from, so that the admin service can say where a value stands. Null: made in code. No key of a
  /// manifest.
  std::shared_ptr<const manifest::Document> source;
};
BOOST_DESCRIBE_STRUCT(AppOptions, (),
                      (application, plugins, log, runtime, registries, components, server, client, admin))

/// Reads a manifest. Blocking: reads one file of at most 1 MiB. Fails with: config; the text has one line
/// "file:line:col: what is wrong" for each mistake, all that could be found, in the order of the file.
TENON_CORE Result<AppOptions> load_manifest(const std::string& path);
/// The same from text; `file` is what messages call it, and its folder is what relative directories are relative to.
TENON_CORE Result<AppOptions> parse_manifest(const std::string& file, std::string_view text);
/// What a reader of the types alone cannot see: names that refer to nothing, ranges, missing members. Options from
/// code should be checked before use; load_manifest has done it. Fails with: config, one line for each mistake.
TENON_CORE Result<void> check(const AppOptions& options);
/// Fills empty Components and search directories with the defaults.
TENON_CORE void apply_defaults(AppOptions& options);
TENON_CORE void apply_defaults(ReferenceOptions& reference);

}  // namespace tenon

template <>
struct tenon::Describe<tenon::PluginOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("search", "directories that hold plugins; relative to the manifest's folder"),
                     tenon::member("load", "plugins to load: file names without directory and .so"),
                     tenon::member("probe", "open each plugin in a child process first"),
                     tenon::member("probe_program", "absolute path of tenon-probe; empty: beside the core library"),
                     tenon::member("probe_timeout", "how long one plugin may take to open"));
};
template <>
struct tenon::Describe<tenon::LogOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("level", "least severe level that is written"),
                     tenon::member("file", "appended to; empty: standard error"),
                     tenon::member("per_second", "lines per cause and second; 0: no limit"));
};
template <>
struct tenon::Describe<tenon::RuntimeOptions> {
  static constexpr auto members = tenon::members(tenon::member("io_threads", "event loops, 1 to 256"));
};
template <>
struct tenon::Describe<tenon::LimitOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("max_frame", "largest body, also after inflating"),
                     tenon::member("max_headers", "largest headers of one frame"),
                     tenon::member("max_header_count", "most headers of one frame"),
                     tenon::member("max_concurrent", "most requests in flight on one connection"),
                     tenon::member("stream_window", "what a stream's sender may be ahead of its reader"));
};
template <>
struct tenon::Describe<tenon::ListenOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("address", "where to listen, in the transport's form"),
                     tenon::member("protocols", "spoken on this port"),
                     tenon::member("announce", "what registries are told instead of the address; none: nothing"),
                     tenon::member("transport", "written inline: `use` names it, the other keys are its options"));
};
template <>
struct tenon::Describe<tenon::PoolOptions> {
  static constexpr auto members = tenon::members(tenon::member("threads", "that run its handlers, 1 to 1024"),
                                                 tenon::member("queue", "requests that wait for a thread"));
};
template <>
struct tenon::Describe<tenon::OfferedMethodOptions> {
  static constexpr auto members = tenon::members(tenon::member("pool", "where it runs, instead of the service's"));
};
template <>
struct tenon::Describe<tenon::ServiceOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("name", "the interface"), tenon::member("group", "as clients ask for it"),
      tenon::member("version", "as clients ask for it"),
      tenon::member("registry", "where it is announced: a name of registries, or a list of them"),
      tenon::member("filters", "around every call, outermost first"),
      tenon::member("weight", "share of traffic; 0: none"), tenon::member("metadata", "facts announced with it"),
      tenon::member("pool", "where it runs: a name of server.pools; empty or inline: on the io thread"),
      tenon::member("methods", "what differs for single methods"));
};
template <>
struct tenon::Describe<tenon::ServerOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("listen", "ports"), tenon::member("services", "what is offered"),
                     tenon::member("pools", "name: threads beside the io threads, for handlers that take time"),
                     tenon::member("grace", "time for calls in flight when told to stop"),
                     tenon::member("max_in_flight", "calls being served at once"),
                     tenon::member("max_connections", "connections open at once"),
                     tenon::member("max_unwritten", "replies waiting on one connection, one of max_frame not counted"),
                     tenon::member("max_unwritten_total", "replies waiting on all connections before slow ones stop"),
                     tenon::member("limits", "bounds of one connection"),
                     tenon::member("heartbeat", "pause between signs of life of an idle connection"),
                     tenon::member("heartbeat_misses", "missed in a row before a connection counts as dead"),
                     tenon::member("compress", "replies to peers that can read it; empty: only as the request was"));
};
template <>
struct tenon::Describe<tenon::MethodOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("idempotent", "may be sent again although it may have run"),
      tenon::member("timeout", "of a whole call"), tenon::member("retries", "instead of the HA strategy's"));
};
template <>
struct tenon::Describe<tenon::ReferenceOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("service", "the interface"), tenon::member("group", "of the service"),
      tenon::member("version", "of the service"),
      tenon::member("registry", "where instances are found: a name of registries, or a list of them"),
      tenon::member("address", "instead of a registry: host:port, several separated by commas"),
      tenon::member("transport", "how bytes travel"), tenon::member("protocol", "how calls are framed"),
      tenon::member("serializer", "how values become bytes"), tenon::member("compress", "empty: not compressed"),
      tenon::member("timeout", "of a whole call, retries included"),
      tenon::member("connect_timeout", "of one connection attempt"),
      tenon::member("max_reconnect_pause", "pauses between attempts to connect an instance grow up to this"),
      tenon::member("connections", "per instance"),
      tenon::member("connect", "at start or with the first call"),
      tenon::member("check", "starting fails when no instance is found"),
      tenon::member("cluster", "joins instances into one callee"), tenon::member("router", "which subset may serve"),
      tenon::member("balancer", "which instance serves"), tenon::member("ha", "how many attempts"),
      tenon::member("filters", "around a call, outermost first"),
      tenon::member("attempt_filters", "around each attempt, outermost first"),
      tenon::member("methods", "what differs for single methods"), tenon::member("max_in_flight", "calls at once"),
      tenon::member("max_unwritten", "bytes waiting on one connection"),
      tenon::member("heartbeat", "pause between signs of life of an idle connection"),
      tenon::member("heartbeat_misses", "missed in a row before a connection counts as dead"),
      tenon::member("limits", "bounds of one connection"));
};
template <>
struct tenon::Describe<tenon::ClientOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("cache", "folder for what registries said last, to start without them"),
                     tenon::member("references", "name: a service that is called"));
};
template <>
struct tenon::Describe<tenon::AdminOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("listen", "unix:/absolute/path.sock, made with mode 0600"),
                     tenon::member("protocols", "spoken there; default: tenon"));
};
template <>
struct tenon::Describe<tenon::AppOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("application", "who this is, to registries and peers"),
      tenon::member("plugins", "shared libraries to load"), tenon::member("log", "where and how much"),
      tenon::member("runtime", "threads"), tenon::member("registries", "name: registry"),
      tenon::member("components", "kind: {name: component}, for options that refer to a component by name"),
      tenon::member("server", "what is offered"), tenon::member("client", "what is called"),
      tenon::member("admin", "where this process may be asked what it is doing"));
};
