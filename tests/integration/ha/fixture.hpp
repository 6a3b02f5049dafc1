#pragma once
// Servers whose handlers do as the test says, each behind a proxy, and clients with an HA strategy.

#include <google/protobuf/wrappers.pb.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cluster_options.hpp"
#include "support/fault_proxy.hpp"
#include "support/test_apps.hpp"
#include "tenon/protobuf.hpp"
#include "tenon/scope.hpp"
#include "tenon/serve.hpp"

namespace tenon::test {

inline constexpr const char* worker_service = "test.Worker";

/// test.Worker: work(number) and once(number) tell the server's name, the latter not idempotent; echo(StringValue) adds
/// it. Handlers notice that they are cancelled.
/// Threads: what is public and not a method, from any.
class Worker final : public Service {
 public:
  using Number = Arguments<std::int64_t>;
  using Name = Bare<std::string>;
  using Text = google::protobuf::StringValue;
  enum class Mood {
    good,
    full,      ///< refuses before anything has run
    unlucky,   ///< fails with an error of the business
    forwards,  ///< answers what `next` answers
  };

  explicit Worker(std::string name) : name_(std::move(name)) {
    methods_[0] = Method{"work", Shape::unary, &message_type<Number>(), &message_type<Name>(), true};
    methods_[1] = Method{"once", Shape::unary, &message_type<Number>(), &message_type<Name>(), false};
    methods_[2] = Method{"echo", Shape::unary, &message_type<Text>(), &message_type<Text>(), true};
    methods_[3] = Method{"note", Shape::one_way, &message_type<Number>(), &message_type<Void>(), false};
  }
  std::string_view interface() const noexcept override { return worker_service; }
  std::span<const Method> methods() const noexcept override { return methods_; }
  const Method& method(std::size_t index) const noexcept { return methods_[index]; }
  Task<Result<Response>> call(Request& request) override {
    ++begun;
    if (mood == Mood::full)
      return ready<Result<Response>>(
          Error(Errc::overloaded, name_ + " is full", Delivery::not_run, Advice::other_instance));
    const CallInfo& info = *request.info;
    if (request.target->index == 2) {
      auto handler = [this, &info](const Text& in, Text& out) { return echo(in, out, info); };
      return serve<Text, Text>(request, handler);
    }
    if (request.target->index == 3) {
      auto handler = [this, &info](const Number& in, Void&) { return note(std::get<0>(in.values), info); };
      return serve<Number, Void>(request, handler);
    }
    auto handler = [this, &info](const Number& in, Name& out) { return work(std::get<0>(in.values), out, info); };
    return serve<Number, Name>(request, handler);
  }

  /// How often this number's handler ran.
  int runs(std::int64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(number);
    return found == runs_.end() ? 0 : found->second;
  }
  const std::string& name() const noexcept { return name_; }

  std::atomic<Mood> mood = Mood::good;
  std::atomic<std::int64_t> takes_ms = 0;
  std::atomic<int> begun = 0;
  std::atomic<int> cancelled = 0;
  std::atomic<int> finished = 0;
  /// Where Mood::forwards goes. Set before the server starts.
  std::function<std::shared_ptr<Reference>()> next;
  /// Decides, if set before the server starts, how long one call takes.
  std::function<std::int64_t(std::int64_t number)> takes_for;

 private:
  Task<Result<void>> pass_time(std::int64_t milliseconds, const CallInfo& info) {
    if (milliseconds > 0) {
      Clock& clock = info.executor->clock();
      sleep_until nap(clock, clock.now() + std::chrono::milliseconds(milliseconds), info.cancel);
      if (!co_await nap) {
        ++cancelled;
        co_return Error(Errc::cancelled, name_ + " was told to stop");
      }
    }
    if (mood == Mood::unlucky) co_return Error(Errc::application, name_ + " has no luck");
    ++finished;
    co_return Result<void>();
  }
  Task<Result<void>> work(std::int64_t number, Name& out, const CallInfo& info) {
    ran(number);
    if (mood == Mood::forwards) {
      const ClientMethod<Number, Name> onward(next(), methods_[0]);
      CallOptions options;
      options.parent = &info;
      const Number in{{number}};
      Result<Name> answer = co_await onward(in, options, use_task);
      if (!answer.ok()) co_return std::move(answer).error();
      out = std::move(*answer);
      co_return Result<void>();
    }
    out.value = name_;
    co_return co_await pass_time(takes_for ? takes_for(number) : takes_ms.load(), info);
  }
  Task<Result<void>> echo(const Text& in, Text& out, const CallInfo& info) {
    out.set_value(in.value() + " " + name_);
    co_return co_await pass_time(takes_ms, info);
  }
  Task<Result<void>> note(std::int64_t number, const CallInfo& info) {
    ran(number);
    co_return co_await pass_time(takes_ms, info);
  }
  void ran(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    ++runs_[number];
  }

  const std::string name_;
  Method methods_[4];
  mutable std::mutex mutex_;
  std::map<std::int64_t, int> runs_;
};

/// One server and the proxy in front of it.
struct Site {
  explicit Site(const std::string& name) : worker(std::make_shared<Worker>(name)) {}
  bool open() {
    app = start(server_options(), {worker});
    if (app) proxy = std::make_unique<FaultProxy>(app->addresses()[0]);
    return app != nullptr;
  }
  std::shared_ptr<Worker> worker;
  std::unique_ptr<App> app;
  std::unique_ptr<FaultProxy> proxy;
};

/// Servers "a", "b", … and clients of all of them.
class HaCalls : public testing::Test {
 protected:
  using Work = ClientFunction<std::string(std::int64_t)>;

  void open(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      sites_.push_back(std::make_unique<Site>(std::string(1, static_cast<char>('a' + i))));
      ASSERT_TRUE(sites_.back()->open());
    }
  }
  Worker& worker(std::size_t index) { return *sites_[index]->worker; }
  std::string addresses() const {
    std::string all;
    for (const auto& site : sites_) all += (all.empty() ? "" : ",") + site->proxy->address();
    return all;
  }
  /// A client whose reference "r" has this strategy; connected to everybody.
  std::unique_ptr<App> client(const Component& ha, const std::function<void(ReferenceOptions&)>& adjust = {}) {
    AppOptions options = client_options(worker_service, addresses());
    ReferenceOptions& reference = options.client.references["r"];
    reference.ha = ha;
    reference.max_reconnect_pause = std::chrono::milliseconds(100);
    cluster::ClusterOptions cluster;
    cluster.outliers.consecutive_faults = 0;  // these tests are about attempts
    cluster.outliers.interval = std::chrono::milliseconds(0);
    cluster.retries_per_second = retries_per_second_;
    reference.cluster = Component::of("default", cluster);
    if (adjust) adjust(reference);
    const auto all_have = [this](std::size_t connections) {
      return eventually([&] {
        return std::all_of(sites_.begin(), sites_.end(), [&](const auto& site) {
          return site->app->counts().server_connections == connections;
        });
      });
    };
    EXPECT_TRUE(all_have(0)) << "one client at a time";
    auto app = start(std::move(options));
    EXPECT_TRUE(!app || all_have(1));
    return app;
  }
  static Work work(App& client) { return Work(client.reference("r"), "work", true); }
  static Work once(App& client) { return Work(client.reference("r"), "once"); }
  int begun() const {
    int all = 0;
    for (const auto& site : sites_) all += site->worker->begun;
    return all;
  }
  /// Nothing is under way any more, anywhere.
  void expect_idle(const App& client) {
    EXPECT_TRUE(eventually([&] { return idle(client); }));
    for (const auto& site : sites_) {
      EXPECT_TRUE(eventually([&] { return site->app->counts().server_calls == 0; }));
    }
  }
  std::vector<std::unique_ptr<Site>> sites_;
  std::uint32_t retries_per_second_ = 1000;  ///< enough for everything that a test wants
};

/// Calls that are begun and awaited later. Threads: one begins and joins.
class ManyCalls {
 public:
  using Work = ClientFunction<std::string(std::int64_t)>;
  struct Outcome {
    std::atomic<int> completions{0};
    bool ok = false;
    Errc code = Errc::ok;
    std::string text;  ///< the answer, or the error's
  };

  void begin(const Work& call, std::int64_t number) {
    calls_.push_back(std::make_unique<Outcome>());
    call(number, [outcome = calls_.back().get()](Result<std::string> answer) {
      outcome->ok = answer.ok();
      outcome->code = answer.ok() ? Errc::ok : answer.error().code();
      outcome->text = answer.ok() ? *answer : answer.error().text();
      outcome->completions.fetch_add(1, std::memory_order_release);
    });
  }
  /// Waits for all; false: one has not completed within `limit`.
  bool join(Duration limit = std::chrono::seconds(20)) const {
    return eventually(
        [&] {
          return std::all_of(calls_.begin(), calls_.end(), [](const auto& outcome) {
            return outcome->completions.load(std::memory_order_acquire) > 0;
          });
        },
        limit);
  }
  /// Each has completed once, and not a second time.
  void expect_once() const {
    for (const auto& outcome : calls_) EXPECT_EQ(outcome->completions, 1) << outcome->text;
  }
  std::size_t good() const {
    return static_cast<std::size_t>(
        std::count_if(calls_.begin(), calls_.end(), [](const auto& outcome) { return outcome->ok; }));
  }
  const std::vector<std::unique_ptr<Outcome>>& all() const noexcept { return calls_; }

 private:
  std::vector<std::unique_ptr<Outcome>> calls_;
};

}  // namespace tenon::test
