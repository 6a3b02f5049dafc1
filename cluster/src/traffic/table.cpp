#include "traffic/table.hpp"

#include <algorithm>

namespace tenon::cluster::traffic {

namespace {

/// 2^64 divided by the golden ratio: multiples of it, modulo 2^64, leave no gap that is more than 2.7 times another.
constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;

/// at / 2^64 * total, without an overflow: total is less than 2^32.
std::uint64_t scaled(std::uint64_t at, std::uint64_t total) noexcept {
  return ((at >> 32) * total + ((at & 0xFFFFFFFF) * total >> 32)) >> 32;
}

}  // namespace

TrafficTable::TrafficTable(std::vector<Share> shares, std::vector<std::string> complaints, std::uint64_t start,
                           Reasons reasons)
    : complaints_(std::move(complaints)), reasons_(std::move(reasons)), at_(start), passed_at_(start) {
  subsets_.reserve(shares.size());
  for (Share& share : shares) {
    subsets_.push_back(std::move(share.members));
    weights_.push_back(share.weight);
    total_ += share.weight;
  }
}

int TrafficTable::choose(const Request&) const noexcept {
  if (subsets_.size() <= 1) return static_cast<int>(subsets_.size()) - 1;
  at_ += golden;
  const int chosen = choose_among(at_, total_, [](std::size_t) { return true; });
  if (usable(static_cast<std::size_t>(chosen))) return chosen;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < subsets_.size(); ++i)
    if (usable(i)) total += weights_[i];
  if (total == 0) return chosen;
  passed_at_ += golden;
  return choose_among(passed_at_, total, [this](std::size_t i) { return usable(i); });
}

template <class Eligible>
int TrafficTable::choose_among(std::uint64_t at, std::uint64_t total, Eligible eligible) const noexcept {
  std::uint64_t point = scaled(at, total);
  int last = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (!eligible(i)) continue;
    last = static_cast<int>(i);
    if (point < weights_[i]) break;
    point -= weights_[i];
  }
  return last;
}

int TrafficTable::next(const Request&, int subset) const noexcept {
  return subsets_.size() < 2 ? -1 : (subset + 1) % static_cast<int>(subsets_.size());
}

std::string TrafficTable::explain(const Request&, const Endpoint& member) const {
  for (std::size_t i = 0; i < subsets_.size(); ++i) {
    const auto is_member = [&](const auto& each) { return each.get() == &member; };
    if (std::none_of(subsets_[i].begin(), subsets_[i].end(), is_member)) continue;
    std::string text = reasons_.of(member.instance(), true);
    if (subsets_.size() > 1)
      text += ", which gets " + std::to_string(weights_[i]) + " of " + std::to_string(total_) + " calls";
    if (subsets_.size() > 1 && !usable(i)) text += "; none of it can take calls, so the others take them";
    return text;
  }
  return reasons_.of(member.instance(), false);
}

bool TrafficTable::usable(std::size_t subset) const noexcept {
  const Members& members = subsets_[subset];
  return std::any_of(members.begin(), members.end(),
                     [](const auto& member) { return member->health() != Health::closed; });
}

}  // namespace tenon::cluster::traffic
