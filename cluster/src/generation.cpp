#include "generation.hpp"

namespace tenon::cluster {

Generation::Generation(std::shared_ptr<Standing> standing, std::shared_ptr<const Members> members,
                       std::unique_ptr<Router::Table> table)
    : standing_(std::move(standing)),
      number_(++standing_->generations),
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

Endpoint* Generation::find(std::string_view instance) const noexcept {
  const auto found = by_name_.find(instance);
  return found == by_name_.end() ? nullptr : found->second;
}

}  // namespace tenon::cluster
