// The program of stuck_ends_test: an application one part of which never ends.
//
//   stubborn_app PART --manifest FILE
//
// PART is warm_up, blocked_warm_up, draining, withdraw, or none. Registry "stubborn" takes every announcement.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tenon/app.hpp"
#include "tenon/functions.hpp"
#include "tenon/plugin.hpp"
#include "tenon/registry.hpp"
#include "tenon/scope.hpp"

namespace {

using namespace tenon;

constexpr std::chrono::hours for_ever(1);

Task<Result<void>> never_ending() {
  Clock& clock = Executor::current()->clock();
  sleep_until end(clock, clock.now() + for_ever);
  co_await end;
  co_return Result<void>();
}

class Stubborn final : public Service {
 public:
  explicit Stubborn(std::string part) : part_(std::move(part)) {
    calls_.add("large", [] { return std::string(2u << 20, 'x'); });
  }
  std::string_view interface() const noexcept override { return calls_.interface(); }
  std::span<const Method> methods() const noexcept override { return calls_.methods(); }
  Task<Result<Response>> call(Request& request) override { return calls_.call(request); }
  Task<Result<void>> warm_up() override {
    if (part_ == "blocked_warm_up") std::this_thread::sleep_for(for_ever);
    if (part_ == "warm_up") return never_ending();
    return ready(Result<void>());
  }
  void draining() noexcept override {
    if (part_ == "draining") std::this_thread::sleep_for(for_ever);
  }

 private:
  Functions calls_{"test.Stubborn"};
  const std::string part_;
};

class Mute final : public Lease {
 public:
  void update(Instance) override {}
  Task<Result<void>> withdraw(TimePoint) override { return never_ending(); }
};

class StubbornRegistry final : public Registry {
 public:
  using Options = NoOptions;
  static Result<std::unique_ptr<StubbornRegistry>> create(Options, Environment) {
    return std::make_unique<StubbornRegistry>();
  }
  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName&, Instance) override {
    std::unique_ptr<Lease> lease = std::make_unique<Mute>();
    return ready(Result<std::unique_ptr<Lease>>(std::move(lease)));
  }
  Result<std::unique_ptr<Watch>> watch(const Subscription&, SnapshotObserver) override { return nobody(); }
  Result<std::unique_ptr<Watch>> watch_document(const std::string&, const std::string&, DocumentObserver) override {
    return nobody();
  }
  RegistryAdmin* admin() noexcept override { return nullptr; }

 private:
  static Error nobody() { return Error(Errc::unimplemented, "nobody watches here", Delivery::not_run); }
};

constinit const Plugin stubborn{
    .name = "stubborn",
    .version = "1.0.0",
    .install = [](Catalog& catalog) { catalog.add<Registry, StubbornRegistry>("stubborn"); },
};

int refuse(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  auto options = load_manifest(argv[3]);
  if (!options.ok()) return refuse(options.error());
  std::vector<const Plugin*> table;
  if (const Plugin* const* linked = built_in_plugins())
    for (; *linked; ++linked) table.push_back(*linked);
  table.insert(table.end(), {&stubborn, nullptr});
  options->plugins.built_in = table.data();
  options->plugins.load.push_back("stubborn");
  auto app = App::create(std::move(*options));
  if (!app.ok()) return refuse(app.error());
  (*app)->catch_signals();
  std::printf("made\n");
  std::fflush(stdout);
  (*app)->provide(std::make_shared<Stubborn>(argv[1]));
  if (auto started = (*app)->start(); !started.ok())
    return started.error().code() == Errc::cancelled ? (*app)->wait() : refuse(started.error());
  for (const std::string& address : (*app)->addresses()) std::printf("listening on %s\n", address.c_str());
  std::printf("started\n");
  std::fflush(stdout);
  return (*app)->wait();
}
