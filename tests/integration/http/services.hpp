#pragma once
// Two services, one of plain functions and one from a .proto, and a server that offers them over three protocols on one
// loopback port.

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "greeter.tenon.h"
#include "protocol.hpp"
#include "support/test_apps.hpp"
#include "tenon/functions.hpp"
#include "tenon/scope.hpp"

namespace tenon::test {

inline Task<Result<std::string>> slept(int milliseconds) {
  Clock& clock = Executor::current()->clock();
  sleep_until pause(clock, clock.now() + std::chrono::milliseconds(milliseconds));
  co_await pause;
  co_return std::string("slept");
}

inline std::shared_ptr<Service> functions() {
  auto service = std::make_shared<Functions>("test.Functions");
  service->add(
      "hello", [](const std::string& name) { return "hello " + name; }, true);
  service->add(
      "add", [](std::int32_t a, std::int64_t b) { return std::int64_t{a} + b; }, true);
  service->add(
      "ready", [] { return true; }, true);
  service->add("size", [](const std::string& text) { return static_cast<std::int64_t>(text.size()); });
  service->add("fill", [](std::int32_t size) { return std::string(static_cast<std::size_t>(size), 'x'); });
  service->add("boom", [](const std::string& why) -> Result<std::string> { throw std::runtime_error("boom " + why); });
  service->add("refuse", [](const std::string& why) -> Result<std::string> {
    return Error(Errc::permission_denied, why).foreign("acme", 42);
  });
  service->add("sleep", [](std::int32_t milliseconds) { return slept(milliseconds); });
  return service;
}

class TestGreeter final : public demo::Greeter::Service {
 public:
  Task<Result<demo::HelloReply>> SayHello(const demo::HelloRequest& request, const CallInfo& info) override {
    demo::HelloReply reply;
    reply.set_message("Hello, " + request.name());
    if (const std::string* tag = info.headers->find("x-tag")) reply.set_message(reply.message() + " of " + *tag);
    if (info.deadline != never)
      reply.set_message(reply.message() + " in " + std::to_string((info.deadline - info.started).count() / 1'000'000) +
                        " ms");
    co_return reply;
  }
};

/// Options with every plugin that the three protocols need.
inline AppOptions http_options(std::string application) {
  AppOptions chosen = options(std::move(application));
  for (const char* plugin : {"protocol-motan2", "protocol-http", "serialize-simple", "compress-gzip"})
    chosen.plugins.load.push_back(plugin);
  return chosen;
}

inline AppOptions http_server_options(http::HttpOptions http = {}) {
  AppOptions chosen = http_options("server");
  ListenOptions listen;
  listen.address = "127.0.0.1:0";
  listen.protocols = {Component("tenon"), Component("motan2"), Component::of("http", std::move(http))};
  listen.transport = InlineComponent("tcp");
  chosen.server.listen = {listen};
  return chosen;
}

inline std::unique_ptr<App> start_http(AppOptions chosen = http_server_options()) {
  return start(std::move(chosen), {functions(), std::make_shared<TestGreeter>()});
}

/// "127.0.0.1:PORT".
inline std::string host(const App& app) {
  const std::string address = app.addresses().at(0);
  return "127.0.0.1" + address.substr(address.rfind(':'));
}

}  // namespace tenon::test
