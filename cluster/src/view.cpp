#include "view.hpp"

namespace tenon::cluster {

View::View(std::shared_ptr<Common> common, std::shared_ptr<const Members> members, std::unique_ptr<Router::Table> table)
    : common_(std::move(common)), members_(std::move(members)), table_(std::move(table)) {
  subsets_ = table_ ? table_->subsets() : std::span<const Members>(members_.get(), 1);
  pickers_.reserve(subsets_.size());
  for (const Members& subset : subsets_) pickers_.push_back(common_->parts.balancer->over(subset));
  gone_.view = this;
  gone_.run = [](Work* work) noexcept { delete static_cast<Gone*>(work)->view; };
}

Endpoint* View::find(std::string_view instance) const noexcept {
  for (const auto& member : *members_)
    if (member->instance().id == instance) return member.get();
  for (const auto& member : *members_)
    if (member->instance().address == instance) return member.get();
  return nullptr;
}

void View::drop() noexcept { common_->parts.executor->post(gone_); }

}  // namespace tenon::cluster
