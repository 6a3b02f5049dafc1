#include "admin/health.hpp"

#include <utility>
#include <vector>

#include "admin/inquiry.hpp"
#include "client/bound_reference.hpp"
#include "tenon/type.hpp"

namespace tenon::admin {

namespace {

constexpr Duration patience = std::chrono::milliseconds(500);

using Lost = std::vector<std::string>;  // references with `check` that have nobody

Lost look_for_lost(const std::vector<OpenedReference>& references, std::size_t io_thread) {
  Lost lost;
  for (const OpenedReference& reference : references) {
    if (!reference.check || reference.io_thread != io_thread) continue;
    const std::shared_ptr<BoundReference> bound = reference.reference.lock();
    const ClusterInvoker* cluster = bound ? bound->known_cluster() : nullptr;
    if (!cluster || cluster->health() == Health::closed) lost.push_back(reference.name);
  }
  return lost;
}

std::string why(Phase phase) {
  switch (phase) {
    case Phase::starting: return "it is starting";
    case Phase::ready: return {};
    case Phase::draining: return "it is draining";
    case Phase::stopped: return "it has stopped";
    case Phase::paused: return "it is paused";
  }
  return {};
}

Error unavailable(const HealthState& state, const char* word) {
  std::string text = std::string("not ") + word;
  const char* separator = ": ";
  for (const std::string& one : state.missing) text += std::exchange(separator, "; ") + one;
  return Error(Errc::unavailable, std::move(text), Delivery::ran, Advice::never);
}

}  // namespace

Task<HealthState> health(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home) {
  auto references = std::make_shared<const std::vector<OpenedReference>>(facts->references());
  Inquiry<Lost>::Question question = [references](std::size_t io_thread) {
    return look_for_lost(*references, io_thread);
  };
  Inquiry<Lost> inquiry(std::move(home), facts->loops(), std::move(question), patience);
  const std::vector<std::optional<Lost>> answers = co_await inquiry;
  HealthState state;
  state.phase = facts->phase();
  state.live = state.phase != Phase::stopped;
  if (std::string word = why(state.phase); !word.empty()) state.missing.push_back(std::move(word));
  for (std::size_t io_thread = 0; io_thread < answers.size(); ++io_thread) {
    if (!answers[io_thread]) {
      state.live = false;
      state.missing.push_back("io thread " + std::to_string(io_thread) + " does not answer");
      continue;
    }
    for (const std::string& name : *answers[io_thread])
      state.missing.push_back("reference " + name + " has nobody to call");
  }
  state.ready = state.missing.empty();
  co_return state;
}

Task<Result<std::string>> ready_word(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home) {
  const HealthState state = co_await health(std::move(facts), std::move(home));
  if (!state.ready) co_return unavailable(state, "ready");
  co_return std::string("ready");
}

Task<Result<std::string>> live_word(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home) {
  const HealthState state = co_await health(std::move(facts), std::move(home));
  if (!state.live) co_return unavailable(state, "live");
  co_return std::string("live");
}

}  // namespace tenon::admin
