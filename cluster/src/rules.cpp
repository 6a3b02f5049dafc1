#include "rules.hpp"

#include <algorithm>
#include <utility>

#include "deliver_on.hpp"

namespace tenon::cluster {

namespace {

template <class Documents>
bool same(const Documents& a, const Documents& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& left, const auto& right) {
    return left.first == right.first && left.second.text == right.second.text;
  });
}

template <class Documents>
std::vector<Document> listed(const Documents& documents) {
  std::vector<Document> all;
  for (const auto& [key, document] : documents) all.push_back(document);
  return all;
}

}  // namespace

Rules::Rules(std::shared_ptr<Standing> standing, std::function<void()> changed)
    : standing_(std::move(standing)),
      router_([this] {
        auto bound = standing_->router->for_service(standing_->parts.service);
        return bound ? bound : standing_->router;
      }()),
      tell_(std::move(changed)) {}

Result<std::shared_ptr<Rules>> Rules::watch(std::shared_ptr<Standing> standing, std::function<void()> changed) {
  const ClusterParts& parts = standing->parts;
  std::shared_ptr<Rules> made(new Rules(standing, std::move(changed)));
  for (std::size_t index = 0; index < parts.registries.size(); ++index)
    for (std::string& kind : made->router_->document_kinds()) made->places_.emplace_back(index, std::move(kind));
  for (std::size_t place = 0; place < made->places_.size(); ++place) made->unanswered_.insert(place);
  for (std::size_t place = 0; place < made->places_.size(); ++place) {
    const auto& [index, kind] = made->places_[place];
    auto watch = parts.registries[index].registry->watch_document(
        kind, parts.service.group,
        deliver_on<Document>(*parts.executor, std::weak_ptr(made), &Rules::on_document, place));
    if (watch.ok())
      made->watches_.push_back(std::move(*watch));
    else if (watch.error().code() == Errc::unimplemented)
      made->unanswered_.erase(place);  // it keeps none
    else
      return std::move(watch).error().prefix(parts.service.text());
  }
  return made;
}

void Rules::on_document(std::size_t place, const Result<Document>& document) {
  const bool first = unanswered_.erase(place) > 0;
  if (!document.ok()) {
    standing_->parts.log->warn("document", standing_->who() + document.error().text() + "; the last one is kept");
    if (first) recall(place, "cannot say what is in force");
    if (first) tell_();
    return;
  }
  Document& last = documents_[places_[place]];
  const bool news = last.text != document->text;
  last = *document;
  unkept_.insert(places_[place]);
  if (news) {
    changed_since_ = true;
    groups_.reset();
  }
  if (news || first) tell_();
}

bool Rules::recall(std::size_t place, const std::string& why) {
  const Key& key = places_[place];
  if (!standing_->cache || documents_.contains(key)) return false;
  const std::string& registry = standing_->parts.registries[key.first].name;
  auto document = standing_->cache->document(registry, key.second, standing_->parts.service.group,
                                             standing_->who() + "registry " + registry + ' ' + why);
  if (!document) return false;
  documents_.emplace(key, std::move(*document));
  changed_since_ = true;
  groups_.reset();
  return true;
}

void Rules::stop_waiting() {
  if (unanswered_.empty()) return;
  const std::set<std::size_t> late = std::exchange(unanswered_, {});
  for (const std::size_t place : late) recall(place, "has not said yet what is in force");
  tell_();
}

// They are good: the next start may go on with them.
void Rules::keep() {
  for (const Key& key : std::exchange(unkept_, {})) {
    Document document = documents_.at(key);
    document.kind = key.second;
    document.group = standing_->parts.service.group;
    if (standing_->cache) standing_->cache->keep(standing_->parts.registries[key.first].name, document);
  }
}

Result<std::unique_ptr<Router::Table>> Rules::table_of(const Members& members, const Documents& documents) const {
  return router_->compile(members, listed(documents));
}

// The good ones with each new one that will do beside them: a bad document of one kind does not hold up another's.
Rules::Documents Rules::mended(const Members& members) const {
  Documents mended = good_;
  for (const auto& [key, document] : documents_) {
    const auto good = good_.find(key);
    if (good != good_.end() && good->second.text == document.text) continue;
    Documents tried = mended;
    tried[key] = document;
    if (table_of(members, tried).ok()) mended = std::move(tried);
  }
  return mended;
}

const std::set<std::string>& Rules::groups() {
  if (groups_) return *groups_;
  std::set<std::string> wanted;
  const auto add = [&](const Documents& documents) {
    auto groups = router_->groups(listed(documents));
    if (groups.ok()) wanted.insert(groups->begin(), groups->end());
    return groups.ok();
  };
  // One that cannot be read wants nothing; compile() says so.
  if (!add(documents_)) {
    for (const auto& [key, document] : documents_) {
      Documents tried = good_;
      tried[key] = document;
      add(tried);
    }
  }
  if (!same(documents_, good_)) add(good_);
  wanted.erase(standing_->parts.service.group);
  return groups_.emplace(std::move(wanted));
}

std::unique_ptr<Router::Table> Rules::compile(const Members& members, bool newest) {
  std::string trouble;
  if (newest) {
    auto table = table_of(members, documents_);
    changed_since_ = false;
    if (table.ok()) {
      if (!same(good_, documents_)) groups_.reset();
      good_ = documents_;
      keep();
      alarm({});
      report(**table);
      return std::move(*table);
    }
    trouble = table.error().text();
    if (Documents mended = this->mended(members); !same(mended, good_)) {
      good_ = std::move(mended);
      groups_.reset();
    }
  }
  if (!newest || !same(documents_, good_)) {
    auto table = table_of(members, good_);
    if (table.ok()) {
      if (newest) alarm(trouble + "; the rules before stay in force");
      return std::move(*table);
    }
    if (!newest) trouble = table.error().text();
  }
  auto table = router_->compile(members, {});
  if (table.ok()) {
    alarm(trouble + "; calls go where they would without rules");
    return std::move(*table);
  }
  alarm(trouble + "; the instances and rules in force stay");
  return nullptr;
}

void Rules::alarm(const std::string& text) {
  if (alarm_ == text) return;
  const bool over = text.empty();
  alarm_ = text;
  if (over)
    standing_->parts.log->info("routing", standing_->who() + "the newest rules are in force again");
  else
    standing_->parts.log->error("routing", standing_->who() + text);
}

void Rules::report(const Router::Table& table) {
  std::string all;
  for (const std::string& complaint : table.complaints()) all += (all.empty() ? "" : "; ") + complaint;
  if (all == complaints_) return;
  complaints_ = std::move(all);
  if (!complaints_.empty()) standing_->parts.log->warn("rules", standing_->who() + complaints_);
}

}  // namespace tenon::cluster
