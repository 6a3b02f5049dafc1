#include "admin/orders.hpp"

#include <string>
#include <utility>

#include "app/announcements.hpp"
#include "app/stop_requests.hpp"
#include "server/server.hpp"
#include "tenon/scope.hpp"
#include "tenon/type.hpp"

namespace tenon::admin {

namespace {

/// Until consumers have heard of it and send nothing more.
constexpr Duration hearing = std::chrono::milliseconds(300);

Error not_now(std::string text) { return Error(Errc::unavailable, std::move(text), Delivery::not_run, Advice::never); }

}  // namespace

Result<void> drain(const AppFacts& facts, std::chrono::milliseconds grace) {
  StopRequests* requests = facts.stop_requests();
  if (!requests)
    return Error(Errc::unimplemented,
                 "this program does not wait for requests to stop (App::catch_signals, App::wait); stop it by its own "
                 "means",
                 Delivery::not_run, Advice::never);
  requests->ask(grace.count() < 0 ? facts.used().server.grace : Duration(grace), "tenon drain");
  return {};
}

Task<Result<void>> pause(std::shared_ptr<AppFacts> facts) {
  Server* const server = facts->server();
  if (!server) co_return not_now("it serves nobody");
  if (!facts->change(Phase::ready, Phase::paused))
    co_return not_now("only an application that is ready can be paused");
  facts->announcements()->pause(true);
  Clock& clock = Executor::current()->clock();
  sleep_until heard(clock, clock.now() + hearing);
  (void)co_await heard;
  if (facts->phase() == Phase::paused) server->settings().paused = true;
  co_return Result<void>();
}

Result<void> resume(AppFacts& facts) {
  if (!facts.change(Phase::paused, Phase::ready)) return not_now("it is not paused");
  facts.server()->settings().paused = false;
  facts.announcements()->pause(false);
  return {};
}

}  // namespace tenon::admin
