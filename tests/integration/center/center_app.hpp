#pragma once
// A center in an App of this process, and clients that speak to it as messages.hpp says, without a registry's client.

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "center.hpp"
#include "client/calls.hpp"
#include "support/recording_log.hpp"
#include "support/test_apps.hpp"

namespace tenon::center {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline const ServiceName greeter{"demo.Greeter", "blue", "1"};

inline Instance instance(const std::string& id, std::uint32_t weight = 100) {
  Instance made;
  made.id = id;
  made.transport = "tcp";
  made.address = "10.0.0.7:4080";
  made.protocols = {"tenon"};
  made.weight = weight;
  return made;
}

/// An App that serves a center on a loopback port of its own.
class CenterApp {
 public:
  explicit CenterApp(const CenterOptions& options, std::uint32_t io_threads = 1, const std::string& pool = "") {
    AppOptions chosen = test::server_options();
    chosen.runtime.io_threads = io_threads;
    if (!pool.empty()) {
      chosen.server.pools[pool].threads = 2;
      ServiceOptions offered;
      offered.name = interface;
      offered.pool = pool;
      chosen.server.services = {offered};
    }
    auto made = App::create(std::move(chosen));
    if (!made.ok()) {
      ADD_FAILURE() << made.error().text();
      return;
    }
    app = std::move(*made);
    Executor& control = *app->executors().front();
    auto center = Center::create(options, Environment{control, log, control.clock()});
    Result<void> started;
    if (center.ok()) {
      app->provide(std::shared_ptr<Service>(std::move(*center)));
      started = app->start();
    }
    if (center.ok() && started.ok()) return;
    ADD_FAILURE() << (center.ok() ? started.error() : center.error()).text();
    app.reset();
  }
  std::string address() const { return app->addresses()[0]; }

  test::RecordingLog log;
  std::unique_ptr<App> app;
};

/// A process that uses a center: its connection, its key.
class Member {
 public:
  explicit Member(const std::string& address, std::string name = "host/1", std::uint32_t window = 0)
      : name_(std::move(name)), app_(start(address, window)), calls(app_->reference("r")) {
    static std::atomic<unsigned> members{0};
    char id[33];
    std::snprintf(id, sizeof id, "%032x", ++members);
    char secret[33];
    std::snprintf(secret, sizeof secret, "%016x%016x", members.load(), 0x5EC12E7u);
    key = {id, secret};
  }
  Result<Opened> open(const std::string& token = "") const { return calls.open(Opening{key, name_, token}); }
  Result<void> announce(const Instance& what, const ServiceName& service = greeter) const {
    return plain(calls.announce(key, service, what));
  }
  Result<void> update(const Instance& what, const ServiceName& service = greeter) const {
    return plain(calls.update(key, service, what));
  }
  Result<void> withdraw(const std::string& id, const ServiceName& service = greeter) const {
    return plain(calls.withdraw(key, service, id));
  }
  Result<void> close() const { return plain(calls.close(key)); }
  Result<Beaten> beat() const { return calls.beat(key); }
  Stream<List> watch(const ServiceName& service = greeter, const std::string& subscriber = "shop") const {
    return calls.watch.call(forever(), key, service, subscriber);
  }
  Stream<Document> watch_document(const std::string& kind, const std::string& group) const {
    return calls.watch_document.call(forever(), key, kind, group);
  }
  State state() const {
    const Result<State> state = ClientFunction<State()>(app_->reference("r"), "state")();
    EXPECT_TRUE(state.ok()) << state.error().text();
    return state.ok() ? *state : State();
  }
  App& app() const { return *app_; }
  std::shared_ptr<Reference> reference() const { return app_->reference("r"); }

  static Result<void> plain(Result<Void> result) {
    if (!result.ok()) return std::move(result).error();
    return {};
  }

 private:
  static CallOptions forever() {
    CallOptions options;
    options.timeout = std::chrono::hours(1);
    return options;
  }
  static std::unique_ptr<App> start(const std::string& address, std::uint32_t window) {
    AppOptions chosen = test::client_options(std::string(interface), address);
    if (window != 0) chosen.client.references["r"].limits.stream_window = window;
    return test::start(std::move(chosen));
  }
  const std::string name_;
  std::unique_ptr<App> app_;

 public:
  ClientKey key;
  Calls calls;
};

/// Reads until `wanted` says yes; what the stream said instead fails the test. The stream must go on to send.
template <class T>
bool reads(Stream<T>& stream, T& into, const std::function<bool(const T&)>& wanted) {
  while (true) {
    const Result<bool> more = stream.next(into);
    if (!more.ok() || !*more) {
      ADD_FAILURE() << (more.ok() ? "it has ended" : more.error().text());
      return false;
    }
    if (wanted(into)) return true;
  }
}
inline bool reads_ids(Stream<List>& stream, const std::vector<std::string>& ids) {
  List list;
  return reads<List>(stream, list, [&](const List& now) {
    std::vector<std::string> there;
    for (const Instance& each : now.instances) there.push_back(each.id);
    return there == ids;
  });
}
/// How a stream ends.
template <class T>
Error end_of(Stream<T>& stream) {
  T message;
  while (true) {
    const Result<bool> more = stream.next(message);
    if (!more.ok()) return more.error();
    if (!*more) return {};
  }
}

/// Nobody is left at the center.
inline bool empty(const Member& looks) {
  const State state = looks.state();
  return state.services == 0 && state.instances == 0 && state.clients == 0 && state.subscriptions == 0;
}

/// A folder for one test's store, gone with it.
class StoreFolder {
 public:
  StoreFolder() : path_(std::filesystem::temp_directory_path() / ("tenon-center-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~StoreFolder() { std::filesystem::remove_all(path_); }
  std::string text() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

}  // namespace tenon::center
