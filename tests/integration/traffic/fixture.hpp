#pragma once
// Providers in several groups, consumers, and a desk from which commands are written: Apps of one process with a
// registry each.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/store.hpp"
#include "support/test_apps.hpp"
#include "tenon/registry.hpp"
#include "tenon/serve.hpp"

namespace tenon::test {

inline constexpr const char* traffic_service = "test.Who";

/// test.Who: name(text) tells its name; remembers which connections called it.
class Who final : public Service {
 public:
  explicit Who(std::string name) : name_(std::move(name)) {}
  std::string_view interface() const noexcept override { return traffic_service; }
  std::span<const Method> methods() const noexcept override { return {&method_, 1}; }
  Task<Result<Response>> call(Request& request) override {
    {
      const std::lock_guard lock(mutex_);
      peers_.insert(request.info->peer->peer);
    }
    auto handler = [this](const In&, Out& out) {
      out.value = name_;
      return ready(Result<void>());
    };
    return serve<In, Out>(request, handler);
  }
  std::size_t connections() const {
    const std::lock_guard lock(mutex_);
    return peers_.size();
  }

 private:
  using In = Arguments<std::string>;
  using Out = Bare<std::string>;
  const std::string name_;
  const Method method_{"name", Shape::unary, &message_type<In>(), &message_type<Out>()};
  mutable std::mutex mutex_;
  std::set<std::string> peers_;
};

/// A server of one group.
struct Provider {
  enum class Announced { yes, no };
  Provider(std::string name, const std::string& group, const Store& store, Announced announced = Announced::yes,
           const std::string& listen = "127.0.0.1:0", LogLevel log = LogLevel::error)
      : service(std::make_shared<Who>(std::move(name))) {
    AppOptions options = with_store(server_options("tcp", listen), store);
    ServiceOptions offered;
    offered.name = traffic_service;
    offered.group = group;
    if (announced == Announced::yes) offered.registry = {"here"};
    options.server.services = {offered};
    options.log.level = log;
    app = start(std::move(options), {service});
  }
  /// How many connections have brought calls so far.
  std::size_t connections() const { return service->connections(); }
  std::string address() const { return app->addresses().front(); }

  const std::shared_ptr<Who> service;
  std::unique_ptr<App> app;
};

/// A client of one group with router "traffic".
class Consumer {
 public:
  Consumer(const std::string& group, const Store& store, const std::string& application = "consumer",
           const std::function<void(AppOptions&)>& adjust = {}) {
    AppOptions options = with_store(test::options(application), store);
    ReferenceOptions reference;
    reference.service = traffic_service;
    reference.group = group;
    reference.registry = {"here"};
    reference.router = {Component("traffic")};
    reference.timeout = std::chrono::seconds(10);
    reference.methods["name"].idempotent = true;
    options.client.references["r"] = reference;
    if (adjust) adjust(options);
    app = start(std::move(options));
    who_.emplace(app->reference("r"), "name");
  }
  /// Who answers; "error: …" when nobody does.
  std::string call() const {
    const Result<std::string> answer = (*who_)("");
    return answer.ok() ? *answer : "error: " + answer.error().text();
  }
  std::map<std::string, int> calls(int count) const {
    std::map<std::string, int> answers;
    for (int i = 0; i < count; ++i) ++answers[call()];
    return answers;
  }
  /// Calls until `who` answers.
  bool hears(const std::string& who) const {
    return eventually([&] { return call() == who; });
  }
  /// Calls until nobody but `who` has answered for a while.
  bool hears_only(const std::string& who, int times = 50) const {
    return eventually([&] { return calls(times) == std::map<std::string, int>{{who, times}}; });
  }

  std::unique_ptr<App> app;

 private:
  std::optional<ClientFunction<std::string(std::string)>> who_;
};

/// Writes commands and looks at subscriptions, with the registry's own administration.
class Desk {
 public:
  explicit Desk(const Store& store) : hand_(store, "desk") {}
  /// As if a server of that group at that address had done so.
  void announce(const std::string& group, const std::string& address) {
    const Result<void> announced = hand_.announce({traffic_service, group, ""}, at(address));
    ASSERT_TRUE(announced.ok()) << announced.error().text();
  }
  /// Changes what the last announce() has announced.
  void update(const std::string& address, const std::function<void(Instance&)>& change) {
    Instance instance = at(address);
    change(instance);
    hand_.update(instance);
  }
  void write(const std::string& group, const std::string& text) { EXPECT_TRUE(try_write(group, text)); }
  bool try_write(const std::string& group, const std::string& text) {
    auto document = hand_.run([&] { return hand_.admin().read("command", group); });
    if (!document.ok()) return false;
    document->text = text;
    return hand_.run([&] { return hand_.admin().write(*document); }).ok();
  }
  bool try_remove(const std::string& group) {
    const auto document = hand_.run([&] { return hand_.admin().read("command", group); });
    return document.ok() && hand_.run([&] { return hand_.admin().remove(*document); }).ok();
  }
  void merge(const std::string& group, const std::string& groups, const std::string& rules = {}) {
    write(group, R"({"clientCommandList":[{"index":1,"pattern":"test.*","mergeGroups":[)" + groups +
                     R"(],"routeRules":[)" + rules + "]}]}");
  }
  /// The id of the instance at that address; empty: there is none.
  std::string id_of(const std::string& group, const std::string& address) {
    const auto found = hand_.run([&] { return hand_.admin().instances({traffic_service, group, ""}); });
    if (found.ok())
      for (const Instance& instance : *found)
        if (instance.address == address) return instance.id;
    return {};
  }
  bool set_weight(const std::string& group, const std::string& id, std::uint32_t weight) {
    return hand_.run([&] { return hand_.admin().set_weight({traffic_service, group, ""}, id, weight); }).ok();
  }
  /// The applications that follow the service in this group.
  std::vector<std::string> subscribers(const std::string& group) {
    const auto found = hand_.run([&] { return hand_.admin().subscribers({traffic_service, group, ""}); });
    EXPECT_TRUE(found.ok()) << found.error().text();
    std::vector<std::string> names;
    if (found.ok())
      for (const Subscriber& subscriber : *found) names.push_back(subscriber.name);
    return names;
  }

 private:
  static Instance at(const std::string& address) {
    Instance instance;
    instance.id = instance.address = address;
    instance.transport = "tcp";
    return instance;
  }
  RegistryHand hand_;
};

/// Calls on threads of its own until it goes, with a pause after each call; every error is kept.
class Load {
 public:
  Load(const Consumer& consumer, int threads, Duration pause = Duration{0}) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, &consumer, pause] {
        while (!stop_) {
          const std::string answer = consumer.call();
          {
            const std::lock_guard lock(mutex_);
            ++answers_[answer];
          }
          if (pause > Duration{0}) std::this_thread::sleep_for(pause);
        }
      });
  }
  ~Load() { stop(); }
  /// How often each answered, errors by their text.
  std::map<std::string, int> stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return answers_;
  }
  std::map<std::string, int> so_far() const {
    const std::lock_guard lock(mutex_);
    return answers_;
  }

 private:
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, int> answers_;
  std::vector<std::thread> threads_;
};

/// The answers that are errors, one a line.
inline std::string errors_of(const std::map<std::string, int>& answers) {
  std::string all;
  for (const auto& [answer, count] : answers)
    if (answer.starts_with("error")) all += std::to_string(count) + "x " + answer + "\n";
  return all;
}

}  // namespace tenon::test
