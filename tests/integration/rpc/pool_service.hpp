#pragma once
// A service whose handlers block, sleep, call and throw, and options that put its methods into pools.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/test_apps.hpp"
#include "tenon/scope.hpp"

namespace tenon::test {

using In = Arguments<std::int64_t>;
using Out = Bare<std::int64_t>;

/// Blocks threads until it is opened, ten seconds at most, so that a failing test ends.
class Door {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// Every method takes and answers a number.
class Labour final : public Service {
 public:
  enum : std::uint32_t { quick, other, block, nap, nap_then_block, boom, ask_sync, ask, note };
  std::string_view interface() const noexcept override { return "test.Labour"; }
  std::span<const Method> methods() const noexcept override { return methods_; }
  Task<Result<Response>> call(Request& request) override {
    const CallInfo& info = *request.info;
    if (request.target->index == note) {
      auto handler = [this](const In& in, Void&) -> Task<Result<void>> {
        door.pass();
        noted += std::get<0>(in.values);
        co_return Result<void>();
      };
      return serve<In, Void>(request, handler);
    }
    auto handler = [this, &info](const In& in, Out& out) { return work(std::get<0>(in.values), out, info); };
    return serve<In, Out>(request, handler);
  }

  Door door;                        // of block, nap_then_block, note
  std::shared_ptr<Reference> next;  // of ask_sync, ask: its method `other`
  std::atomic<int> started = 0;     // block, nap
  std::atomic<int> blocked = 0;     // at the door now
  std::atomic<int> cancelled = 0;   // nap
  std::atomic<int> strayed = 0;     // went on, on another thread
  std::atomic<std::int64_t> noted = 0;

 private:
  Task<Result<void>> work(std::int64_t number, Out& out, const CallInfo& info) {
    out.value = number;
    switch (info.target->index) {
      case block:
        ++started;
        pass_door();
        break;
      case nap: co_return co_await sleep(number, info);
      case nap_then_block: {
        auto slept = co_await sleep(number, info);
        pass_door();
        co_return std::move(slept);
      }
      case boom: throw std::runtime_error("boom " + std::to_string(number));
      case ask_sync: {
        const In in{{number}};
        auto answer = question()(in, child_of(info));
        co_return take(std::move(answer), out);
      }
      case ask: {
        const std::thread::id thread = std::this_thread::get_id();
        const In in{{number}};
        const CallOptions options = child_of(info);
        const auto method = question();
        auto answer = co_await method(in, options, use_task);
        if (std::this_thread::get_id() != thread || Executor::current() != info.executor) ++strayed;
        co_return take(std::move(answer), out);
      }
      default: break;
    }
    co_return Result<void>();
  }
  Task<Result<void>> sleep(std::int64_t ms, const CallInfo& info) {
    ++started;
    const std::thread::id thread = std::this_thread::get_id();
    Clock& clock = info.executor->clock();
    sleep_until pause(clock, clock.now() + std::chrono::milliseconds(ms), info.cancel);
    const bool whole = co_await pause;
    if (std::this_thread::get_id() != thread || !info.executor->here()) ++strayed;
    if (whole) co_return Result<void>();
    ++cancelled;
    co_return Error(Errc::cancelled, "woken early");
  }
  void pass_door() {
    ++blocked;
    door.pass();
    --blocked;
  }
  ClientMethod<In, Out> question() const { return ClientMethod<In, Out>(next, methods_[other]); }
  static CallOptions child_of(const CallInfo& info) {
    CallOptions options;
    options.parent = &info;
    return options;
  }
  static Result<void> take(Result<Out> answer, Out& out) {
    if (!answer.ok()) return std::move(answer).error();
    out.value = answer->value;
    return {};
  }
  static Method unary(std::string_view name) {
    return Method{name, Shape::unary, &message_type<In>(), &message_type<Out>(), false};
  }
  const Method methods_[9] = {unary("quick"),
                              unary("other"),
                              unary("block"),
                              unary("nap"),
                              unary("nap_then_block"),
                              unary("boom"),
                              unary("ask_sync"),
                              unary("ask"),
                              Method{"note", Shape::one_way, &message_type<In>(), &message_type<Void>(), false}};
};

/// The service in `pool`, but for the methods in `elsewhere` (method, pool).
inline AppOptions pool_options(std::map<std::string, PoolOptions> pools, const std::string& pool,
                               const std::map<std::string, std::string>& elsewhere = {}) {
  AppOptions chosen = server_options();
  chosen.server.pools = std::move(pools);
  ServiceOptions service;
  service.name = "test.Labour";
  service.pool = pool;
  for (const auto& [method, other] : elsewhere) service.methods[method].pool = other;
  chosen.server.services = {service};
  return chosen;
}

/// A server with a pooled service, and its client, whose calls are made once.
class PoolTest : public testing::Test {
 protected:
  void begin(AppOptions chosen) {
    labour = std::make_shared<Labour>();
    server = start(std::move(chosen), {labour});
    ASSERT_TRUE(server);
    connect();
  }
  void connect() {
    AppOptions chosen = client_options("test.Labour", server->addresses()[0]);
    chosen.client.references["r"].ha = Component("failfast");
    client = start(std::move(chosen));
    ASSERT_TRUE(client);
  }
  void TearDown() override {
    if (labour) labour->door.open();
    if (labour) labour->next.reset();
  }
  ClientMethod<In, Out> method(std::uint32_t index) const {
    return ClientMethod<In, Out>(client->reference("r"), labour->methods()[index]);
  }
  Result<Out> run(std::uint32_t index, std::int64_t number) const {
    const In in{{number}};
    return method(index)(in);
  }
  /// Counts how calls ended that nobody waits for.
  struct Outcomes {
    std::atomic<int> ok = 0, wrong = 0, cancelled = 0, expired = 0, lost = 0;
    int all() const { return ok + wrong + cancelled + expired + lost; }
  };
  void send(std::uint32_t index, std::int64_t number, Outcomes& outcomes, const CallOptions& options = {}) const {
    const In in{{number}};
    method(index)(in, options, [number, &outcomes](Result<Out> answer) {
      if (answer.ok())
        ++(answer->value == number ? outcomes.ok : outcomes.wrong);
      else if (answer.error().code() == Errc::cancelled)
        ++outcomes.cancelled;
      else if (answer.error().code() == Errc::deadline_exceeded)
        ++outcomes.expired;
      else
        ++outcomes.lost;
    });
  }
  PoolCounts pool(std::size_t index = 0) const { return server->pools().at(index); }
  bool all_idle() const {
    return eventually([this] { return idle(*server) && (!client || idle(*client)); });
  }

  std::shared_ptr<Labour> labour;
  Outcomes outcomes;  // outlives the Apps, whose end still answers calls
  std::unique_ptr<App> server;
  std::unique_ptr<App> client;
};

}  // namespace tenon::test
