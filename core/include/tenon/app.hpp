#pragma once
// An application: plugins, io threads, a server, references. Built from a manifest or from typed options in code; two
// Apps in one process are independent.

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/core_export.hpp"
#include "tenon/options.hpp"
#include "tenon/reference.hpp"
#include "tenon/registry.hpp"
#include "tenon/result.hpp"
#include "tenon/service.hpp"

namespace tenon {

class Router;
struct CallFacts;
struct RouteExplanation;

/// What is going on in an App at one moment. Everything returns to 0 when it idles (connections of clients stay open).
struct AppCounts {
  std::size_t server_connections = 0;
  std::size_t server_calls = 0;   ///< being served
  std::size_t client_calls = 0;   ///< attempts waiting for a reply or a connection, connection attempts
  std::size_t client_orphans = 0; ///< given up here, not yet answered by the peer
};

/// One worker pool (server.pools) at one moment, for those who watch it.
struct PoolCounts {
  std::string name;
  std::size_t threads = 0;
  std::size_t busy = 0;        ///< threads that did not wait for a request when the last one came
  std::size_t running = 0;     ///< handlers that began and have not ended, suspended ones included
  std::size_t queued = 0;      ///< requests waiting for a thread
  std::size_t queue = 0;       ///< how many may wait
  std::uint64_t rejected = 0;  ///< since the start: the queue was full
  std::uint64_t expired = 0;   ///< since the start: the deadline passed while it waited
};

/// One instance of this application as one registry shows it.
struct Announcement {
  ServiceName service;
  std::string registry;  ///< what the manifest calls it
  Instance instance;
};

/// What is to become of announced instances. What is not set stays as it is.
struct AnnouncementChange {
  std::optional<std::uint32_t> weight;
  std::optional<bool> serving;                                 ///< false: takes no traffic, and is still known
  std::optional<std::map<std::string, std::string>> metadata;  ///< all of it
};

/// Told of an attempt of a call that has ended: by which instance, in which time, and why it failed (null: it has not).
using AttemptSeen = std::function<void(const Instance& instance, Duration took, const Error* error)>;

/// Owns everything: plugin host, catalog, io threads, components, server, references. Nothing in it is global.
/// Threads: create, provide, start, stop and the destructor from one thread; reference() from any.
class TENON_CORE App {
 public:
  /// The whole of a server's main(): reads `--manifest FILE` (default ./manifest.yaml; --help explains), builds the
  /// App, calls `setup` (provide services here), runs until a signal, drains. Returns the exit code: 0 ended well,
  /// 1 failed at run time, 2 bad command line or manifest (the message is on stderr).
  static int main(int argc, char** argv, const std::function<void(App&)>& setup);

  /// Reads the manifest, loads its plugins, starts the io threads. Nothing is bound or connected yet.
  /// Fails with: config; the text has one `file:line:col: message` per line.
  static Result<std::unique_ptr<App>> from_manifest(const std::filesystem::path& file);
  /// The same from typed options in code.
  static Result<std::unique_ptr<App>> create(AppOptions options);

  App(const App&) = delete;
  App& operator=(const App&) = delete;
  /// stop() with no grace if it was not stopped.
  ~App();

  /// Offers a service under its interface name. It is served if the manifest lists it, or if the manifest lists no
  /// services at all. Call before start().
  void provide(std::shared_ptr<Service> service);
  template <class S, class... A>
  S& provide(A&&... arguments) {
    auto service = std::make_shared<S>(std::forward<A>(arguments)...);
    S& offered = *service;
    provide(std::shared_ptr<Service>(std::move(service)));
    return offered;
  }

  /// Offers every service that a loaded plugin carries (kind "service"): what a stock host does.
  /// Fails with: config, or what a service's factory answers.
  Result<void> provide_from_plugins();

  /// Tells `seen` of every attempt of that reference (tools), on its thread, between two calls: it must be quick. Costs
  /// each attempt an allocation. Call before start().
  void watch_attempts(const std::string& reference, AttemptSeen seen);

  /// Builds everything the options name, listens, lets each offered service warm up, accepts connections, opens the
  /// references, and announces last: nobody is sent here before calls can be served.
  /// Fails with: config, unavailable (port in use; a registry that must be up is not; a reference with `check` finds
  /// nobody), what a service's warm_up() answers, or cancelled: a signal, after catch_signals(), or `tenon drain` asked
  /// to stop meanwhile; what it waited for is not waited for any more. After a failure only destruction is left; after
  /// cancelled also wait(), which returns at once.
  Result<void> start();

  /// The reference of that name (client.references). Never null: for an unknown name, or one that cannot be built, the
  /// returned reference refuses every bind with an error that says so. Usable once start() has succeeded. One that
  /// outlives the App refuses every call.
  std::shared_ptr<Reference> reference(std::string_view name);

  /// Bound addresses with real ports, in the order of server.listen. Valid after start().
  std::vector<std::string> addresses() const;

  /// What registries are told of this application, by service, port and registry; nothing before start() has returned
  /// and once stop() has begun. Threads: any. Blocking: a mutex held for a few instructions.
  std::vector<Announcement> announcements() const;
  /// Changes what registries say of an offered service: of all its ports, in every registry, without a restart. Calls
  /// that come all the same are served. A registry that is away is told later; an operator's weight is overruled.
  /// Threads: any. Blocking: no; registries are told on the control thread, in the order of the calls of one thread.
  /// Fails with: not_found (announced nowhere, or not yet: start() has not returned), unavailable (stop() has begun).
  Result<void> update_announcement(const ServiceName& service, const AnnouncementChange& change);

  /// Withdraws from all registries at once (which may take half of `grace`, 2 s at most), serves on until those who
  /// heard of it have let go (a quarter of it, 0.3 s at most), tells the others (goaway), refuses new calls (not run),
  /// finishes what runs, at most `grace` in all, then closes. Idempotent.
  /// True: every call that was running has been answered, those included that waited in a pool.
  bool stop(Duration grace);
  /// From here on SIGTERM, SIGINT, SIGUSR2 and SIGHUP are requests to stop, which start() and wait() see, and so is
  /// `tenon drain`, where there is an admin service. A SIGHUP that was ignored before (nohup) stays so. For programs
  /// that use wait(); it does this itself if it was not done. Signals belong to the process: one App at a time.
  void catch_signals();
  /// start() was done: blocks until there is a request to stop, then stop(server.grace). A second signal forces the end
  /// (SIGHUP apart, which terminals send twice). Whatever is stuck, from start() to the App's destructor, the process
  /// ends with code 1 within a second after the grace; only between wait() and the destructor it may take its time.
  /// Returns the exit code: 0 all answered, 1 calls were cut off.
  int wait();

  /// Threads: not an io thread. Blocking: asks each io thread.
  AppCounts counts() const;
  /// The server's pools by name; none before start(). Threads: any, once start() has returned. Blocking: a mutex held
  /// for a few instructions.
  std::vector<PoolCounts> pools() const;

  const AppOptions& options() const noexcept;
  /// What the loaded plugins offer (tools).
  std::vector<CatalogEntry> catalog() const;
  /// A serializer of the loaded plugins with its default options (tools). Fails with: config, saying what there is.
  Result<std::shared_ptr<Serializer>> serializer(const std::string& name);
  /// The registry of that name in options().registries, the one this App itself uses; before start(), too (tools). Its
  /// functions, and letting go of it, belong to the control thread (executors()[0]); that comes before the App ends.
  /// Threads: not an io thread. Fails with: config, or what its factory answers.
  Result<std::shared_ptr<Registry>> registry(const std::string& name);
  /// A router of the loaded plugins, for no service yet (tools). Threads: not an io thread.
  /// Fails with: config, or what its factory answers.
  Result<std::shared_ptr<Router>> router(const Component& component);
  /// What would become of such a call of the reference at each instance it knows, and why (tools; see
  /// route_explanation.hpp). Nothing is sent. Waits at most `patience` for the reference to be ready, and says so when
  /// it is not. Threads: not an io thread, between start() and stop(). Fails with: config (no such reference).
  Result<RouteExplanation> explain(std::string_view reference, const CallFacts& facts, Duration patience);
  Log& log() noexcept;
  /// The io threads' executors, at least one; [0] is the control thread.
  std::vector<Executor*> executors() const;

 private:
  class Parts;
  explicit App(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tenon
