#include "attempts.hpp"

#include <string>

namespace tenon::cluster {

namespace {

std::string count(std::size_t number, std::string_view what) {
  return std::to_string(number) + " " + std::string(what);
}

std::string known(std::size_t number) { return number == 1 ? "1 instance is known" : count(number, "instances are known"); }

Error nobody(std::string text) {
  return Error(Errc::unavailable, std::move(text), Delivery::not_run, Advice::other_instance);
}

}  // namespace

std::string why_nobody(const Common& common, const Members& members) {
  std::string text = known(members.size() + common.refusals);
  std::size_t weightless = 0;
  std::size_t paused = 0;
  std::size_t closed = 0;
  for (const auto& member : members) {
    if (!member->instance().serving)
      ++paused;
    else if (member->instance().weight == 0)
      ++weightless;
    else if (member->health() == Health::closed)
      ++closed;
  }
  if (paused) text += ", " + count(paused, "not serving");
  if (weightless) text += ", " + count(weightless, "with weight 0");
  if (closed) text += ", " + count(closed, "not connected");
  if (common.refusals) text += ", " + count(common.refusals, "refused here: ") + common.refused.text();
  if (common.registry_error) text += "; its registry fails: " + common.registry_error.text();
  if (members.empty() && !common.refusals && !common.registry_error)
    text += ": nobody has announced it; check the name, group and version, and that a provider runs";
  return text;
}

Error no_such_instance(View& view, const Request& request) {
  const Members& members = *view.members();
  std::string text = view.common().parts.service.text() + ": no instance \"" + *request.instance + "\"; ";
  text += members.empty() ? why_nobody(view.common(), members) : "known are ";
  constexpr std::size_t most = 8;
  for (std::size_t index = 0; index < members.size() && index < most; ++index)
    text += (index ? ", " : "") + members[index]->instance().id;
  if (members.size() > most) text += " and " + std::to_string(members.size() - most) + " more";
  return nobody(std::move(text));
}

Endpoint* Attempts::next(const Request& request) noexcept {
  if (subset_ == unchosen) subset_ = view_.choose(request);
  if (subset_ < 0) return nullptr;
  const int position = view_.picker(subset_).pick(request, tried_);
  if (position < 0) return nullptr;
  if (position < 64) tried_ |= Tried{1} << position;
  return view_.subsets()[static_cast<std::size_t>(subset_)][static_cast<std::size_t>(position)].get();
}

std::size_t Attempts::size() const noexcept {
  return subset_ < 0 ? view_.members()->size() : view_.subsets()[static_cast<std::size_t>(subset_)].size();
}

bool Attempts::spend_retry() noexcept {
  Common& common = view_.common();
  return common.budget.spend(common.parts.executor->clock().now());
}

Error Attempts::none_left(const Request& request) const {
  const Common& common = view_.common();
  const std::string who = common.parts.service.text() + "." + std::string(request.target->method->name);
  const Members& members = *view_.members();
  if (subset_ < 0 && !members.empty())
    return nobody(who + ": the router lets none of the " + std::to_string(members.size()) +
                  " known instances serve this request");
  return nobody(who + ": no instance can serve: " +
                why_nobody(common, subset_ < 0 ? members : view_.subsets()[static_cast<std::size_t>(subset_)]));
}

}  // namespace tenon::cluster
