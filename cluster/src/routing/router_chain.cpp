#include "routing/router_chain.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "routing/serving.hpp"

namespace tenon::cluster {

namespace {

/// Calls note their subset in 16 bits.
constexpr std::size_t max_subsets = std::numeric_limits<std::uint16_t>::max();

bool contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// One table's subsets, each divided further by a table of its own.
class ChainTable final : public ExplainedTable {
 public:
  /// `inner[i]` was compiled over the i-th subset of `outer`, and `brought_in`; null: it lets nobody of them serve.
  ChainTable(std::unique_ptr<Router::Table> outer, std::vector<std::unique_ptr<Router::Table>> inner,
             Members brought_in)
      : outer_(std::move(outer)), inner_(std::move(inner)), brought_in_(std::move(brought_in)) {
    for (std::size_t i = 0; i < inner_.size(); ++i) {
      begins_.push_back(static_cast<int>(subsets_.size()));
      if (!inner_[i]) continue;
      for (const Members& subset : inner_[i]->subsets()) {
        subsets_.push_back(subset);
        outer_of_.push_back(static_cast<int>(i));
      }
    }
    complain();
  }

  std::span<const Members> subsets() const noexcept override { return subsets_; }
  std::span<const std::string> complaints() const noexcept override { return complaints_; }

  int choose(const Request& request) const noexcept override { return from(request, outer_->choose(request)); }

  int next(const Request& request, int subset) const noexcept override {
    const int part = outer_of_[static_cast<std::size_t>(subset)];
    const int begin = begins_[static_cast<std::size_t>(part)];
    // Only forwards inside a part: coming back to where the call began would keep it from the other parts.
    const int further = inner_[static_cast<std::size_t>(part)]->next(request, subset - begin);
    if (further > subset - begin) return begin + further;
    return from(request, outer_->next(request, part));
  }

  std::string explain(const Request& request, const Endpoint& member) const override {
    const bool guest = is_brought_in(member);
    std::string text = guest ? std::string() : outer_->explain(request, member);
    const auto outer = outer_->subsets();
    const Router::Table* told = nullptr;  // by the part that would call it soonest
    Serving best = Serving::no;
    for (std::size_t i = 0; i < inner_.size(); ++i) {
      if (!inner_[i] || !(guest || holds(outer[i], member))) continue;
      const Serving here = cluster::serving(*inner_[i], request, member);
      if (!told || here > best) told = inner_[i].get();
      best = std::max(best, here);
    }
    const std::string more = told ? told->explain(request, member) : std::string();
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
    return text;
  }

  Serving serving(const Request& request, const Endpoint& member) const override {
    Serving best = Serving::no;
    for (const auto& inner : inner_)
      if (inner) best = std::max(best, cluster::serving(*inner, request, member));
    return is_brought_in(member) ? best : std::min(best, cluster::serving(*outer_, request, member));
  }

 private:
  // The inner choice in a part, or in the next part in which somebody may serve.
  int from(const Request& request, int part) const noexcept {
    for (std::size_t i = 0; i < inner_.size() && part >= 0; ++i) {
      const auto place = static_cast<std::size_t>(part);
      if (inner_[place]) {
        const int chosen = inner_[place]->choose(request);
        if (chosen >= 0) return begins_[place] + chosen;
      }
      part = outer_->next(request, part);
    }
    return -1;
  }
  // What has no effect in one part may have one in another.
  void complain() {
    for (const std::string& complaint : outer_->complaints()) complaints_.push_back(complaint);
    std::vector<std::vector<std::string>> said;
    for (const auto& inner : inner_)
      if (inner) said.emplace_back(inner->complaints().begin(), inner->complaints().end());
    if (said.empty()) return;
    for (const std::string& complaint : said.front())
      if (std::all_of(said.begin(), said.end(), [&](const auto& part) { return contains(part, complaint); }) &&
          !contains(complaints_, complaint))
        complaints_.push_back(complaint);
  }
  static bool holds(const Members& members, const Endpoint& member) {
    return std::any_of(members.begin(), members.end(), [&](const auto& each) { return each.get() == &member; });
  }
  // The outer table knows nothing of it, or does not let it serve.
  bool is_brought_in(const Endpoint& member) const {
    return holds(brought_in_, member) && !has_member(*outer_, member);
  }

  const std::unique_ptr<Router::Table> outer_;
  const std::vector<std::unique_ptr<Router::Table>> inner_;
  const Members brought_in_;
  std::vector<Members> subsets_;
  std::vector<int> outer_of_;  // the part that a subset is of
  std::vector<int> begins_;    // the first subset of a part
  std::vector<std::string> complaints_;
};

std::vector<Document> of_kinds(const std::vector<Document>& documents, const std::vector<std::string>& kinds) {
  std::vector<Document> wanted;
  for (const Document& document : documents)
    if (contains(kinds, document.kind)) wanted.push_back(document);
  return wanted;
}

}  // namespace

std::shared_ptr<Router> RouterChain::of(const std::vector<std::shared_ptr<Router>>& routers) {
  std::shared_ptr<Router> all;
  for (auto router = routers.rbegin(); router != routers.rend(); ++router)
    all = all ? std::shared_ptr<Router>(new RouterChain(*router, std::move(all), {})) : *router;
  return all;
}

std::shared_ptr<Router> RouterChain::for_service(const ServiceName& service) {
  auto first = first_->for_service(service);
  auto rest = rest_->for_service(service);
  return std::shared_ptr<Router>(
      new RouterChain(first ? std::move(first) : first_, rest ? std::move(rest) : rest_, service.group));
}

std::vector<std::string> RouterChain::document_kinds() const {
  std::vector<std::string> kinds = first_->document_kinds();
  for (std::string& each : rest_->document_kinds())
    if (!contains(kinds, each)) kinds.push_back(std::move(each));
  return kinds;
}

Result<std::vector<std::string>> RouterChain::groups(const std::vector<Document>& documents) {
  auto groups = first_->groups(of_kinds(documents, first_->document_kinds()));
  if (!groups.ok()) return groups;
  auto more = rest_->groups(of_kinds(documents, rest_->document_kinds()));
  if (!more.ok()) return more;
  for (std::string& group : *more)
    if (!contains(*groups, group)) groups->push_back(std::move(group));
  return groups;
}

Result<std::unique_ptr<Router::Table>> RouterChain::compile(const Members& members,
                                                            const std::vector<Document>& documents) {
  const std::vector<Document> firsts = of_kinds(documents, first_->document_kinds());
  const std::vector<Document> rests = of_kinds(documents, rest_->document_kinds());
  auto chosen = first_->groups(firsts);
  if (!chosen.ok()) return std::move(chosen).error();
  auto brought = rest_->groups(rests);
  if (!brought.ok()) return std::move(brought).error();
  std::erase(*brought, own_group_);
  Members known;       // to the first: not the groups that only the others asked for
  Members brought_in;  // by the others: whatever the first chooses
  for (const auto& member : members) {
    const bool guest = contains(*brought, member->instance().group);
    if (guest) brought_in.push_back(member);
    if (!guest || contains(*chosen, member->instance().group)) known.push_back(member);
  }

  auto outer = first_->compile(known, firsts);
  if (!outer.ok()) return outer;
  std::vector<std::unique_ptr<Table>> inner;
  Error nobody;
  std::size_t subsets = 0;
  bool some = (*outer)->subsets().empty();
  for (const Members& subset : (*outer)->subsets()) {
    Members all = subset;
    for (const auto& guest : brought_in)
      if (std::find(subset.begin(), subset.end(), guest) == subset.end()) all.push_back(guest);
    auto table = rest_->compile(all, rests);
    if (!table.ok() && table.error().code() != Errc::unavailable) return table;
    if (!table.ok()) nobody = table.error();
    some = some || table.ok();
    if (table.ok()) subsets += (*table)->subsets().size();
    inner.push_back(table.ok() ? std::move(*table) : nullptr);
  }
  if (!some) return nobody;
  if (subsets > max_subsets)
    return Error(Errc::too_large,
                 "routers one behind the other make " + std::to_string(subsets) + " sets of instances; at most " +
                     std::to_string(max_subsets),
                 Delivery::not_run);
  return std::unique_ptr<Table>(new ChainTable(std::move(*outer), std::move(inner), std::move(brought_in)));
}

}  // namespace tenon::cluster
