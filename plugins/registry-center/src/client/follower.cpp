#include "follower.hpp"

#include <set>
#include <string_view>

namespace tenon::center {

Stream<List> ServiceFollower::ask(const CallOptions& options) {
  return session().calls().watch.call(options, session().key(), subscription_.service, subscription_.subscriber);
}

bool ServiceFollower::learn(List& list, Snapshot& news) {
  news.instances = std::move(list.instances);
  news.withdrawn = std::move(list.withdrawn);
  // A center that has just started does not know everybody yet: those of before stay until it does.
  if (!list.whole) {
    std::set<std::string_view> ids;
    std::set<std::string_view> addresses;
    for (const Instance& instance : news.instances) {
      ids.insert(instance.id);
      addresses.insert(instance.address);
    }
    const std::set<std::string_view> left(news.withdrawn.begin(), news.withdrawn.end());
    std::vector<Instance> missing;
    for (const Instance& before : last_.instances)
      if (!ids.contains(before.id) && !addresses.contains(before.address) && !left.contains(before.id))
        missing.push_back(before);
    news.instances.insert(news.instances.end(), missing.begin(), missing.end());
  }
  const bool changed = !told_ || news.instances != last_.instances || news.withdrawn != last_.withdrawn;
  news.revision = session().next_revision();
  told_ = true;
  last_ = news;
  return changed;
}

Stream<Document> DocumentFollower::ask(const CallOptions& options) {
  return session().calls().watch_document.call(options, session().key(), kind_, group_);
}

bool DocumentFollower::learn(Document& document, Document& news) {
  news.kind = kind_;
  news.group = group_;
  news.text = std::move(document.text);
  news.version = document.version;
  const bool changed = !told_ || news.version != last_.version || news.text != last_.text;
  told_ = true;
  last_ = news;
  return changed;
}

}  // namespace tenon::center
