#include "admin/service.hpp"

#include <string>
#include <utility>

#include "admin/health.hpp"
#include "admin/look.hpp"
#include "admin/orders.hpp"
#include "component/effective_config.hpp"
#include "tenon/functions.hpp"

namespace tenon::admin {

namespace {

/// What a method's answer is of the whole picture.
template <class Part>
Task<Result<Part>> part(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home, std::size_t limit,
                        Part Stats::*member) {
  Stats stats = co_await look(std::move(facts), std::move(home), limit);
  co_return std::move(stats.*member);
}

Task<Result<Stats>> whole(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home, std::size_t limit) {
  co_return co_await look(std::move(facts), std::move(home), limit);
}

/// The state after an order.
Task<Result<AppState>> state_after(Result<void> order, std::shared_ptr<AppFacts> facts, std::shared_ptr<Loop> home) {
  if (!order.ok()) co_return std::move(order).error();
  auto state = part(std::move(facts), std::move(home), 0, &Stats::app);
  co_return co_await state;
}

Task<Result<AppState>> pause_and_look(std::shared_ptr<AppFacts> facts, std::shared_ptr<Loop> home) {
  auto pausing = pause(facts);
  Result<void> paused = co_await pausing;
  auto after = state_after(std::move(paused), std::move(facts), std::move(home));
  co_return co_await after;
}

}  // namespace

std::shared_ptr<Service> make_admin(std::shared_ptr<AppFacts> facts, std::shared_ptr<Loop> home) {
  auto admin = std::make_shared<Functions>(std::string(interface));
  constexpr bool idempotent = true;
  admin->add(
      "state", [facts, home] { return part(facts, home, 0, &Stats::app); }, idempotent);
  admin->add(
      "listeners", [facts] { return listeners_of(*facts); }, idempotent);
  admin->add(
      "connections", [facts, home](std::uint32_t limit) { return part(facts, home, limit, &Stats::connections); },
      idempotent);
  admin->add(
      "pools", [facts] { return pools_of(*facts); }, idempotent);
  admin->add(
      "references", [facts, home] { return part(facts, home, 0, &Stats::references); }, idempotent);
  admin->add(
      "plugins", [facts] { return plugins_of(*facts); }, idempotent);
  admin->add(
      "config", [facts] { return effective_config(facts->given(), facts->host().catalog()); }, idempotent);
  admin->add(
      "stats", [facts, home](std::uint32_t limit) { return whole(facts, home, limit); }, idempotent);
  admin->add(
      "health", [facts, home] { return health(facts, home); }, idempotent);
  admin->add(
      "ready", [facts, home] { return ready_word(facts, home); }, idempotent);
  admin->add(
      "live", [facts, home] { return live_word(facts, home); }, idempotent);
  admin->add("drain", [facts, home](std::int64_t grace_ms) {
    return state_after(drain(*facts, std::chrono::milliseconds(grace_ms)), facts, home);
  });
  admin->add("pause", [facts, home] { return pause_and_look(facts, home); });
  admin->add("resume", [facts, home] { return state_after(resume(*facts), facts, home); });
  return admin;
}

}  // namespace tenon::admin
