#include "balancer/p2c.hpp"

#include <algorithm>
#include <chrono>

namespace tenon::cluster {

namespace {

constexpr double decay_seconds = 10;  // as Stats says

TimePoint now_here() noexcept {
  Executor* here = Executor::current();
  return here ? here->clock().now() : std::chrono::steady_clock::now();
}

bool measured(const Stats& stats) noexcept { return stats.peak_at != TimePoint(); }

/// What the peak has decayed to. The first terms of exp()'s series, as who writes it computes it.
double latency(const Stats& stats, TimePoint now) noexcept {
  const double age = std::max(0.0, std::chrono::duration<double>(now - stats.peak_at).count() / decay_seconds);
  return stats.peak_latency_us / (1 + age * (1 + age / 2));
}

}  // namespace

Result<std::unique_ptr<P2c>> P2c::create(Options, Environment) { return std::make_unique<P2c>(); }

std::unique_ptr<Picker> P2c::over(const Members& members) const {
  return std::make_unique<P2cPicker>(members, randoms_.another());
}

P2cPicker::P2cPicker(const Members& members, RandomSource random)
    : members_(members), draw_(effective_weights(members)), random_(random) {
  std::uint64_t some = 0;
  for (std::size_t i = 0; i < draw_.size(); ++i) some += draw_.weight(i) > 0 ? 1 : 0;
  if (some > 0) own_call_ = static_cast<double>(some) / static_cast<double>(draw_.total());
}

int P2cPicker::pick(const Request&, const Eligible& eligible) noexcept {
  const int first = draw_.pick(random_, eligible);
  if (first < 0) return first;
  const auto one = static_cast<std::size_t>(first);
  const int second = draw_.pick(random_, [&](std::size_t i) { return i != one && eligible(i); });
  if (second < 0) return first;
  const auto other = static_cast<std::size_t>(second);
  const Stats& a = members_[one]->stats();
  const Stats& b = members_[other]->stats();
  double latency_a = 1;
  double latency_b = 1;
  if (measured(a) && measured(b)) {
    const TimePoint now = now_here();
    latency_a = latency(a, now);
    latency_b = latency(b, now);
  }
  const double cost_a = latency_a * (a.in_flight / static_cast<double>(draw_.weight(one)) + own_call_);
  const double cost_b = latency_b * (b.in_flight / static_cast<double>(draw_.weight(other)) + own_call_);
  const double chance_a = static_cast<double>(draw_.total() - draw_.weight(other));
  const double chance_b = static_cast<double>(draw_.total() - draw_.weight(one));
  return cost_b < cost_a * std::min(1.0, chance_b / chance_a) ? second : first;
}

}  // namespace tenon::cluster
