#pragma once
// Providers that can be told apart, killed and counted, consumers, and somebody who watches what registries say.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/fault_proxy.hpp"
#include "support/free_port.hpp"
#include "support/place.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_apps.hpp"
#include "tenon/registry.hpp"
#include "tenon/scope.hpp"
#include "tenon/serve.hpp"

namespace tenon::test {

using namespace std::chrono_literals;

inline constexpr const char* who_service = "test.Who";

/// Registries by the names of their manifests.
using Registries = std::map<std::string, Store>;

inline AppOptions with(AppOptions options, const Registries& registries) {
  for (const auto& [name, store] : registries) add_registry(options, name, store);
  return options;
}

inline std::vector<std::string> names_of(const Registries& registries) {
  std::vector<std::string> names;
  for (const auto& [name, store] : registries) names.push_back(name);
  return names;
}

/// test.Who: name(text) tells its name. Warming up is what the test says.
class Who final : public Service {
 public:
  explicit Who(std::string name) : name_(std::move(name)) {}
  std::string_view interface() const noexcept override { return who_service; }
  std::span<const Method> methods() const noexcept override { return {&method_, 1}; }
  Task<Result<Response>> call(Request& request) override {
    ++calls;
    return held ? call_later(request) : answer(request);
  }
  Task<Result<void>> warm_up() override {
    ++warmed;
    return ready(warming ? warming() : Result<void>());
  }

  std::function<Result<void>()> warming;
  std::atomic<bool> held = false;  ///< calls that arrive are answered when it is false again
  std::atomic<int> warmed = 0;
  std::atomic<int> calls = 0;

 private:
  using In = Arguments<std::string>;
  using Out = Bare<std::string>;
  Task<Result<Response>> call_later(Request& request) {
    Clock& clock = Executor::current()->clock();
    while (held) {
      sleep_until pause(clock, clock.now() + 1ms);
      (void)co_await pause;
    }
    auto task = answer(request);
    co_return co_await task;
  }
  Task<Result<Response>> answer(Request& request) {
    auto handler = [this](const In&, Out& out) {
      out.value = name_;
      return ready(Result<void>());
    };
    return serve<In, Out>(request, handler);
  }

  const std::string name_;
  const Method method_{"name", Shape::unary, &message_type<In>(), &message_type<Out>()};
};

/// A server that is announced as a proxy in front of it, which counts connections and can make it die.
class Provider {
 public:
  Provider(const std::string& name, const Registries& registries, const std::function<void(AppOptions&)>& adjust = {})
      : port_(free_port()), proxy_("127.0.0.1:" + std::to_string(port_)), service_(std::make_shared<Who>(name)) {
    AppOptions options = with(server_options("tcp", "127.0.0.1:" + std::to_string(port_)), registries);
    options.server.listen[0].announce = proxy_.address();
    ServiceOptions offered;
    offered.name = who_service;
    offered.registry = names_of(registries);
    options.server.services = {offered};
    if (adjust) adjust(options);
    app_ = start(std::move(options), {service_});
  }
  App& app() { return *app_; }
  bool started() const { return app_ != nullptr; }
  Who& service() { return *service_; }
  std::string address() const { return proxy_.address(); }
  /// How often somebody has connected.
  int connects() const { return proxy_.accepted(); }
  std::size_t open() const { return proxy_.open(); }
  /// As kill -9 does: connections break, nobody listens, no registry is told.
  void die() {
    proxy_.refuse(true);
    proxy_.cut(Cut::reset);
  }
  void revive() { proxy_.refuse(false); }
  void stop() { EXPECT_TRUE(app_->stop(5s)); }
  void change(const AnnouncementChange& change) {
    const auto changed = app_->update_announcement({who_service, "", ""}, change);
    EXPECT_TRUE(changed.ok()) << changed.error().text();
  }

 private:
  const std::uint16_t port_;
  FaultProxy proxy_;
  const std::shared_ptr<Who> service_;
  std::unique_ptr<App> app_;
};

inline AppOptions consumer_options(const Registries& registries) {
  AppOptions options = with(test::options("shop"), registries);
  ReferenceOptions reference;
  reference.service = who_service;
  reference.registry = names_of(registries);
  reference.timeout = 5s;
  reference.heartbeat = 200ms;
  reference.methods["name"].idempotent = true;
  options.client.references["who"] = reference;
  return options;
}

class Consumer {
 public:
  explicit Consumer(const Registries& registries, const std::function<void(AppOptions&)>& adjust = {}) {
    AppOptions options = consumer_options(registries);
    if (adjust) adjust(options);
    app_ = start(std::move(options));
    if (!app_) throw std::runtime_error("the consumer did not start");
    name_.emplace(app_->reference("who"), "name");
  }
  App& app() { return *app_; }
  /// Who answers; "error: …" when nobody does.
  std::string call() const {
    const Result<std::string> answer = (*name_)("");
    return answer.ok() ? *answer : "error: " + answer.error().text();
  }
  std::map<std::string, int> calls(int count) const {
    std::map<std::string, int> answers;
    for (int i = 0; i < count; ++i) ++answers[call()];
    return answers;
  }
  /// Calls until exactly these have answered the last twenty for each.
  bool hears(const std::set<std::string>& wanted, Duration limit = 10s) const {
    return eventually(
        [&] {
          std::set<std::string> heard;
          for (const auto& [name, count] : calls(static_cast<int>(wanted.size()) * 20)) heard.insert(name);
          return heard == wanted;
        },
        limit);
  }

 private:
  std::unique_ptr<App> app_;
  std::optional<ClientFunction<std::string(std::string)>> name_;
};

/// Calls on threads of its own until it ends, and keeps what failed.
class Load {
 public:
  explicit Load(const Consumer& consumer, int threads = 2) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, &consumer] {
        while (!stop_) {
          const auto begun = std::chrono::steady_clock::now();
          const std::string answer = consumer.call();
          const Duration took = std::chrono::steady_clock::now() - begun;
          const std::lock_guard lock(mutex_);
          ++answers_[answer];
          slowest_ = std::max(slowest_, took);
        }
      });
  }
  ~Load() { stop(); }
  std::map<std::string, int> stop() {
    stop_ = true;
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
    return answers_;
  }
  /// What failed, and how often; empty: nothing.
  std::string failures() {
    std::string all;
    for (const auto& [answer, count] : stop())
      if (answer.starts_with("error")) all += std::to_string(count) + " × " + answer + "\n";
    return all;
  }
  int total() {
    int sum = 0;
    for (const auto& [answer, count] : stop()) sum += count;
    return sum;
  }
  Duration slowest() {
    stop();
    return slowest_;
  }

 private:
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::map<std::string, int> answers_;
  Duration slowest_{0};
  std::vector<std::thread> threads_;
};

/// Watches the service in a registry, as another application would.
class Watcher {
 public:
  using Hear = std::function<void(const Snapshot&)>;
  /// `hear` is called with each snapshot, on the watcher's thread.
  explicit Watcher(const Store& store, Hear hear = {}) : hear_(std::move(hear)), hand_(store) {
    const auto watched = hand_.watch({who_service, "", ""}, [this](const Result<Snapshot>& news) {
      if (!news.ok()) return;
      if (hear_) hear_(*news);
      const std::lock_guard lock(mutex_);
      heard_.push_back(*news);
    });
    EXPECT_TRUE(watched.ok()) << watched.error().text();
  }
  std::vector<Snapshot> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  std::vector<Instance> latest() const {
    const std::lock_guard lock(mutex_);
    return heard_.empty() ? std::vector<Instance>() : heard_.back().instances;
  }
  /// Waits for a snapshot of so many.
  bool sees(std::size_t count) const {
    return eventually([&] { return !heard().empty() && latest().size() == count; });
  }

 private:
  const Hear hear_;
  mutable std::mutex mutex_;
  std::vector<Snapshot> heard_;
  RegistryHand hand_;  // whose watch ends first
};

/// A registry at a server of that kind that is not there. It does not answer within `connect_timeout`, and then says
/// that it cannot.
inline Store nobody(std::chrono::milliseconds connect_timeout = 60s, const PlaceKind& kind = center_place()) {
  const auto place = kind.make(1s);
  return place->store(place->address(), connect_timeout);
}

/// Tests at one place of several. Leases last a second.
class Discovery : public testing::TestWithParam<PlaceKind> {
 protected:
  static constexpr std::chrono::milliseconds lease = 1s;

  /// The server of that name, started.
  Place& place(const std::string& name) {
    std::unique_ptr<Place>& place = places_[name];
    if (!place) {
      place = GetParam().make(lease);
      place->start();
    }
    return *place;
  }
  /// A registry at the server of that name.
  Store registry(const std::string& name) { return place(name).store(place(name).address(), 3s); }
  Store dead(std::chrono::milliseconds connect_timeout = 60s) {
    return nobody(connect_timeout, GetParam().name == "memory" ? center_place() : GetParam());
  }

 private:
  std::map<std::string, std::unique_ptr<Place>> places_;
};

/// Those that start at once, and those that take their time.
inline std::vector<PlaceKind> quick_places() { return {memory_place(), center_place()}; }
inline std::vector<PlaceKind> slow_places() {
  std::vector<PlaceKind> slow;
  for (PlaceKind& kind : places())
    if (kind.name != "center") slow.push_back(std::move(kind));
  return slow;
}

}  // namespace tenon::test
