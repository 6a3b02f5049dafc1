#pragma once
// The service that Motan's own demo offers, as plain functions.

#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/test_apps.hpp"
#include "tenon/functions.hpp"
#include "tenon/scope.hpp"
#include "tenon/value.hpp"

namespace tenon::test {

inline constexpr const char* demo_interface = "com.weibo.motan.demo.service.MotanDemoService";

inline Task<Result<std::string>> slept(int milliseconds) {
  Clock& clock = Executor::current()->clock();
  sleep_until pause(clock, clock.now() + std::chrono::milliseconds(milliseconds));
  co_await pause;
  co_return std::string("slept");
}

inline std::shared_ptr<Service> demo_service() {
  using Texts = std::map<std::string, std::string>;
  auto service = std::make_shared<Functions>(demo_interface);
  service->add("hello", [](const std::string& name) { return "hello " + name; }, true);
  service->add("add", [](std::int32_t a, std::int64_t b) { return std::int64_t{a} + b; }, true);
  service->add("echo", [](const Value& value) { return value; });
  service->add("nothing", [](const std::string&) {});
  service->add("boom", [](const std::string& why) -> Result<std::string> { throw std::runtime_error("boom " + why); });
  service->add("refuse", [](const std::string& why) -> Result<std::string> {
    return Error(Errc::permission_denied, why).foreign("acme", 42);
  });
  service->add("maps", [](const Texts& map, const std::vector<std::string>& list, const Bytes& bytes) {
    Texts answer = map;
    for (const std::string& text : list) answer["l"] += text;
    answer["b"] = std::to_string(bytes.data.size());
    return answer;
  });
  service->add("sleep", [](std::int32_t milliseconds) { return slept(milliseconds); });
  return service;
}

/// Options with every plugin of this tree that the protocol needs.
inline AppOptions motan_options(std::string application) {
  AppOptions chosen = options(std::move(application));
  for (const char* plugin : {"protocol-motan2", "serialize-simple", "compress-gzip"})
    chosen.plugins.load.push_back(plugin);
  return chosen;
}

/// A server on one loopback port speaking tenon and motan2.
inline AppOptions motan_server_options() {
  AppOptions chosen = motan_options("server");
  ListenOptions listen;
  listen.address = "127.0.0.1:0";
  listen.protocols = {Component("tenon"), Component("motan2")};
  listen.transport = InlineComponent("tcp");
  chosen.server.listen = {listen};
  return chosen;
}

}  // namespace tenon::test
