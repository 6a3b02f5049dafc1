#pragma once
// Apps for tests: real plugins from the build, options in code, loopback only.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tenon/app.hpp"
#include "tenon/functions.hpp"

namespace tenon::test {

/// Every plugin of the tree, from the build's plugin folder. Probing is tested by itself and off here, for speed.
inline AppOptions options(std::string application) {
  AppOptions options;
  options.application = std::move(application);
  options.plugins.search = {TENON_TEST_PLUGIN_DIR};
  options.plugins.load = {"transport-tcp", "transport-memory", "protocol-tenon", "serialize-pb",
                          "serialize-json", "registry-static", "cluster"};
  options.plugins.probe = false;
  options.log.level = LogLevel::error;
  return options;
}

inline AppOptions server_options(const std::string& transport = "tcp", const std::string& address = "127.0.0.1:0") {
  AppOptions chosen = options("server");
  ListenOptions listen;
  listen.address = address;
  listen.protocols = {Component("tenon")};
  listen.transport = InlineComponent(transport);
  chosen.server.listen = {listen};
  return chosen;
}

inline ReferenceOptions reference_options(const std::string& service, const std::string& address,
                                          const std::string& transport = "tcp") {
  ReferenceOptions reference;
  reference.service = service;
  reference.address = address;
  reference.transport = Component(transport);
  reference.timeout = std::chrono::seconds(10);
  return reference;
}

inline AppOptions client_options(const std::string& service, const std::string& address,
                                 const std::string& transport = "tcp") {
  AppOptions chosen = options("client");
  chosen.client.references["r"] = reference_options(service, address, transport);
  return chosen;
}

/// Starts it; a failure fails the test with the message.
inline std::unique_ptr<App> start(AppOptions chosen, std::vector<std::shared_ptr<Service>> services = {}) {
  auto app = App::create(std::move(chosen));
  if (!app.ok()) {
    ADD_FAILURE() << app.error().text();
    return nullptr;
  }
  for (auto& service : services) (*app)->provide(std::move(service));
  if (auto started = (*app)->start(); !started.ok()) {
    ADD_FAILURE() << started.error().text();
    return nullptr;
  }
  return std::move(*app);
}

/// Waits until `condition` holds, at most `limit`.
inline bool eventually(const std::function<bool()>& condition, Duration limit = std::chrono::seconds(5)) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// Everything an idle App holds is gone.
inline bool idle(const App& app) {
  const AppCounts counts = app.counts();
  return counts.server_calls == 0 && counts.client_calls == 0 && counts.client_orphans == 0;
}

/// Suspends handlers until open(); then they go on, on the thread that opens it. Confine it to one io thread.
class Gate {
 public:
  auto pass() {
    struct Awaiter {
      Gate& gate;
      bool await_ready() const noexcept { return gate.open_; }
      void await_suspend(std::coroutine_handle<> caller) const { gate.waiting_.push_back(caller); }
      void await_resume() const noexcept {}
    };
    return Awaiter{*this};
  }
  void open() {
    open_ = true;
    for (const auto waiter : std::exchange(waiting_, {})) waiter.resume();
  }
  std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  bool open_ = false;
  std::vector<std::coroutine_handle<>> waiting_;
};

}  // namespace tenon::test
