#include "generation.hpp"

#include <algorithm>
#include <bit>

namespace tenon::cluster {

namespace {

/// Request::tried_set: which set, how many subsets were tried to the end, which subset `tried` is about.
struct Mark {
  static Mark of(const Request& request) noexcept {
    return {request.tried_set >> 32, static_cast<std::uint16_t>(request.tried_set >> 16),
            static_cast<std::uint16_t>(request.tried_set)};
  }
  void put(Request& request) const noexcept {
    request.tried_set = set << 32 | std::uint64_t{spent} << 16 | subset;
    request.tried = 0;
  }
  std::uint64_t set;  // 32 bits
  std::uint16_t spent;
  std::uint16_t subset;
};

/// Those behind the first 64 are not kept account of, so there is always one more to try.
bool all_tried(const Members& members, Tried tried) noexcept {
  return members.size() <= 64 && static_cast<std::size_t>(std::popcount(tried)) >= members.size();
}

}  // namespace

Generation::Generation(std::shared_ptr<Standing> standing, std::shared_ptr<const Members> members,
                       std::unique_ptr<Router::Table> table)
    : standing_(std::move(standing)),
      number_(standing_->generations = standing_->generations % 0xFFFFFFFF + 1),
      members_(std::move(members)),
      table_(std::move(table)) {
  gone_.generation = this;
  gone_.run = [](Work* work) noexcept { delete static_cast<Gone*>(work)->generation; };
  const Balancer& balancer = *standing_->parts.balancer;
  if (table_) {
    for (const Members& subset : table_->subsets()) subsets_.push_back({&subset, balancer.over(subset)});
  } else {
    subsets_.push_back({members_.get(), balancer.over(*members_)});
  }
  for (const auto& member : *members_) by_name_.emplace(member->instance().id, member.get());
  for (const auto& member : *members_) by_name_.emplace(member->instance().address, member.get());  // ids win
}

const Generation::Subset* Generation::choose(Request& request) const noexcept {
  Mark mark = Mark::of(request);
  if (mark.set != number_) {
    const int first = table_ ? table_->choose(request) : 0;
    if (first < 0 || static_cast<std::size_t>(first) >= subsets_.size()) return nullptr;
    mark = {number_, 0, static_cast<std::uint16_t>(first)};
    mark.put(request);
  } else if (table_ && mark.spent + std::size_t{1} < subsets_.size() &&
             all_tried(*subsets_[mark.subset].members, request.tried)) {
    const int next = table_->next(request, mark.subset);
    if (next >= 0 && static_cast<std::size_t>(next) < subsets_.size()) {
      mark = {number_, static_cast<std::uint16_t>(mark.spent + 1), static_cast<std::uint16_t>(next)};
      mark.put(request);
    }
  }
  return &subsets_[mark.subset];
}

const Generation::Subset* Generation::chosen(const Request& request) const noexcept {
  const Mark mark = Mark::of(request);
  return mark.set == number_ ? &subsets_[mark.subset] : nullptr;
}

std::size_t Generation::reach(const Request& request) const noexcept {
  const Mark mark = Mark::of(request);
  if (mark.set != number_) return members_->size();
  std::size_t reach = subsets_[mark.subset].members->size();
  int subset = mark.subset;
  for (std::size_t i = 1; table_ && i < subsets_.size(); ++i) {
    subset = table_->next(request, subset);
    if (subset < 0 || subset == mark.subset || static_cast<std::size_t>(subset) >= subsets_.size()) break;
    reach += subsets_[static_cast<std::size_t>(subset)].members->size();
  }
  return reach;
}

Health Generation::health() const noexcept {
  Health best = Health::closed;
  for (const Subset& subset : subsets_)
    for (const auto& member : *subset.members) best = std::max(best, member->health());
  return best;
}

void Generation::reweigh() {
  for (Subset& subset : subsets_) subset.picker = standing_->parts.balancer->over(*subset.members);
}

Endpoint* Generation::find(std::string_view instance) const noexcept {
  const auto found = by_name_.find(instance);
  return found == by_name_.end() ? nullptr : found->second;
}

}  // namespace tenon::cluster
