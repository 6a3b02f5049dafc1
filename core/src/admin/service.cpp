#include "admin/service.hpp"

#include <string>
#include <utility>

#include "admin/look.hpp"
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

}  // namespace

std::shared_ptr<Service> make_admin(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home) {
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
  return admin;
}

}  // namespace tenon::admin
