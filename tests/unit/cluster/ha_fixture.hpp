#pragma once
// Calls through an HA strategy to scripted endpoints in virtual time.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/cluster_fakes.hpp"
#include "support/manual_executor.hpp"
#include "tenon/describe.hpp"
#include "tenon/environment.hpp"

namespace tenon::cluster {

/// Everybody in turn, those first who were not tried.
class Turns final : public Candidates {
 public:
  Endpoint* next(Request& request) noexcept override {
    if (endpoints.empty()) return nullptr;
    const std::size_t begin = turn++;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      const std::size_t at = (begin + i) % endpoints.size();
      if ((request.tried >> at & 1) != 0) continue;
      request.tried |= Tried{1} << at;
      return endpoints[at].get();
    }
    return endpoints[begin % endpoints.size()].get();
  }
  std::vector<Endpoint*> all(Request&) override {
    std::vector<Endpoint*> everybody;
    for (const auto& endpoint : endpoints) everybody.push_back(endpoint.get());
    return everybody;
  }
  std::size_t size(const Request&) const noexcept override { return endpoints.size(); }
  bool spend_retry() noexcept override {
    if (budget <= 0) return false;
    --budget;
    return true;
  }
  Error none_left(const Request&) const override {
    return Error(Errc::unavailable, "nobody there", Delivery::not_run, Advice::other_instance);
  }
  std::vector<std::shared_ptr<fake::ScriptedEndpoint>> endpoints;
  std::size_t turn = 0;
  int budget = 1000000;
};

class HaFixture : public testing::Test {
 protected:
  using Scripted = fake::ScriptedEndpoint;
  using Step = Scripted::Step;
  static constexpr Duration forever = Scripted::forever;

  HaFixture() {
    for (const char* id : {"a", "b", "c"})
      candidates->endpoints.push_back(std::make_shared<Scripted>(fake::instance(id)));
    target.idempotent = true;
  }
  Environment environment() { return {executor, log, executor.clock()}; }
  TimePoint now() { return executor.clock().now(); }
  Scripted& at(std::size_t index) { return *candidates->endpoints[index]; }
  void all(const Step& step) {
    for (auto& endpoint : candidates->endpoints) endpoint->always = step;
  }
  int sent() const {
    int calls = 0;
    for (const auto& endpoint : candidates->endpoints) calls += endpoint->calls;
    return calls;
  }
  /// One call to its end, with a limit of ten seconds.
  Result<Response> call(HaStrategy& strategy) {
    Request request(target);
    CallInfo info;
    info.target = &target;
    request.info = &info;
    request.payload = Payload::borrow(message_type<Bare<std::string>>(), &said);
    request.reply = &reply;
    request.deadline = now() + std::chrono::seconds(10);
    return executor.finish(strategy.call(request, *candidates));
  }
  /// Who answered; "error: …" when nobody did.
  std::string who(HaStrategy& strategy) {
    const Result<Response> answer = call(strategy);
    if (!answer.ok()) return "error: " + answer.error().text();
    const std::string* from = answer->headers.find("from");
    return from ? *from : "";
  }
  static std::uint64_t count(const HaStrategy& strategy, const std::string& name) {
    for (const Count& one : strategy.counts())
      if (one.name == name) return one.value;
    ADD_FAILURE() << "nothing is counted as " << name;
    return 0;
  }

  test::ManualExecutor executor;
  fake::ListLog log;
  ServiceName service{"demo.Greeter", "", ""};
  Method method{"SayHello", Shape::unary, &message_type<Bare<std::string>>(), &message_type<Bare<std::string>>()};
  Target target{&service, &method};
  Bare<std::string> said{"hello"};
  Bare<std::string> reply{"from before"};
  std::unique_ptr<Turns> candidates = std::make_unique<Turns>();
};

}  // namespace tenon::cluster
