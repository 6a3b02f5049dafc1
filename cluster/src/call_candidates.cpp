#include "call_candidates.hpp"

namespace tenon::cluster {

Endpoint* CallCandidates::next(const Request& request) noexcept {
  if (!subset_) return only_;
  const int chosen = subset_->picker->pick(request, tried_);
  if (chosen < 0) return nullptr;
  if (chosen < 64) tried_ |= Tried{1} << chosen;
  return (*subset_->members)[static_cast<std::size_t>(chosen)].get();
}

bool CallCandidates::spend_retry() noexcept {
  Standing& standing = generation_.standing();
  return standing.budget.spend(standing.now());
}

Error CallCandidates::none_left(const Request& request) const {
  return Error(Errc::unavailable, generation_.standing().who() + "no instance can be called: " + reason(request),
               Delivery::not_run, Advice::other_instance);
}

std::string CallCandidates::reason(const Request& request) const {
  constexpr std::size_t shown = 5;
  const Members& members = subset_ ? *subset_->members : *generation_.members();
  const std::size_t known = generation_.members()->size();
  if (known == 0) return generation_.standing().why_empty();
  if (request.instance && !only_)
    return "'" + *request.instance + "' is not among the " + std::to_string(known) + " known";
  if (!subset_ && !request.instance)
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
    else if (i < 64 && (tried_ >> i & 1) != 0)
      text += " (tried)";
    else
      text += member.health() == Health::closed ? " (not connected)" : " (not chosen)";
  }
  return text;
}

}  // namespace tenon::cluster
