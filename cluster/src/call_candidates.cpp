#include "call_candidates.hpp"

namespace tenon::cluster {

Endpoint* CallCandidates::next(Request& request) noexcept {
  if (!generation_) return nullptr;
  if (request.instance) return generation_->find(*request.instance);
  const Generation::Subset* subset = generation_->choose(request);
  if (!subset) return nullptr;
  Outliers& outliers = *standing_.outliers;
  if (outliers.probe_due() && request.tried == 0) {
    const auto [probe, position] = outliers.probe(*subset->members);
    if (probe && position < 64) request.tried |= Tried{1} << position;
    if (probe) return probe;
  }
  int chosen = pick(*subset, request);
  // Each suspicion takes one more out of the choice, or the last word is his.
  while (chosen >= 0 && outliers.suspect(*(*subset->members)[static_cast<std::size_t>(chosen)]))
    chosen = pick(*subset, request);
  if (chosen < 0) return nullptr;
  if (chosen < 64) request.tried |= Tried{1} << chosen;
  return (*subset->members)[static_cast<std::size_t>(chosen)].get();
}

// A member that was tried is better than one that cannot take calls, and any is better than none: who is closed may
// open before the deadline.
int CallCandidates::pick(const Generation::Subset& subset, const Request& request) const noexcept {
  using Closed = Eligible::Closed;
  const Members& members = *subset.members;
  int chosen = subset.picker->pick(request, Eligible(members, request.tried, Closed::no));
  if (chosen < 0 && request.tried != 0) chosen = subset.picker->pick(request, Eligible(members, 0, Closed::no));
  if (chosen < 0) chosen = subset.picker->pick(request, Eligible(members, request.tried, Closed::too));
  if (chosen < 0 && request.tried != 0) chosen = subset.picker->pick(request, Eligible(members, 0, Closed::too));
  return chosen;
}

std::vector<Endpoint*> CallCandidates::all(Request& request) {
  std::vector<Endpoint*> everybody;
  if (!generation_) return everybody;
  if (request.instance) {
    if (Endpoint* only = generation_->find(*request.instance)) everybody.push_back(only);
    return everybody;
  }
  if (const Generation::Subset* subset = generation_->choose(request))
    for (const auto& member : *subset->members)
      if (member->effective_weight() > 0) everybody.push_back(member.get());
  return everybody;
}

std::size_t CallCandidates::size(const Request& request) const noexcept {
  if (!generation_) return 0;
  if (request.instance) return generation_->find(*request.instance) ? 1 : 0;
  return generation_->reach(request);
}

bool CallCandidates::spend_retry() noexcept {
  const bool paid = standing_.budget.spend(standing_.now());
  ++(paid ? standing_.retries : standing_.refused);
  return paid;
}

Error CallCandidates::none_left(const Request& request) const {
  return Error(Errc::unavailable, standing_.who() + "no instance can be called: " + reason(request), Delivery::not_run,
               Advice::other_instance);
}

std::string CallCandidates::reason(const Request& request) const {
  if (!generation_) return standing_.why_empty();
  const Generation::Subset* subset = request.instance ? nullptr : generation_->chosen(request);
  const Endpoint* only = request.instance ? generation_->find(*request.instance) : nullptr;
  constexpr std::size_t shown = 5;
  const Members& members = subset ? *subset->members : *generation_->members();
  const std::size_t known = generation_->members()->size();
  if (known == 0) return standing_.why_empty();
  if (request.instance && !only)
    return "'" + *request.instance + "' is not among the " + std::to_string(known) + " known";
  if (!subset && !request.instance)
    return std::to_string(known) + " known, but the routing rules allow none of them for this call";
  std::string text = std::to_string(known) + " known";
  if (members.size() != known) text += ", " + std::to_string(members.size()) + " allowed by the routing rules";
  text += ": ";
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == shown) return text + ", …";
    const Endpoint& member = *members[i];
    if (i > 0) text += ", ";
    text += member.instance().address;
    if (!member.instance().serving)
      text += " (not serving)";
    else if (member.instance().weight == 0)
      text += " (weight 0)";
    else if (i < 64 && (request.tried >> i & 1) != 0)
      text += " (tried)";
    else if (member.ejected_until() != TimePoint())
      text += " (an outlier)";
    else
      text += member.health() == Health::closed ? " (not connected)" : " (not chosen)";
  }
  return text;
}

}  // namespace tenon::cluster
