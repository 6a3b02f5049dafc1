#include "directory.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "watchers.hpp"

namespace tenon::inprocess {

namespace {

/// The directories in use. Like the memory transport's table of names it is shared by the whole process, because it
/// stands for what Apps reach outside of themselves. It owns nothing: an entry leaves with its directory's last user.
struct Names {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Directory>> directories;
};
Names& names() noexcept {
  static auto* const table = new Names;  // never destroyed: Apps of other threads may outlive main()
  return *table;
}

}  // namespace

std::shared_ptr<Directory> Directory::named(const std::string& name) {
  Names& table = names();
  const std::lock_guard lock(table.mutex);
  std::weak_ptr<Directory>& entry = table.directories[name];
  std::shared_ptr<Directory> directory = entry.lock();
  if (!directory) entry = directory = std::make_shared<Directory>(name);
  return directory;
}

Directory::~Directory() {
  Names& table = names();
  const std::lock_guard lock(table.mutex);
  const auto found = table.directories.find(name_);
  // Somebody may have made the next one meanwhile.
  if (found != table.directories.end() && found->second.expired()) table.directories.erase(found);
}

Directory::Services::iterator Directory::open(const ServiceName& service) {
  const auto [entry, is_new] = services_.try_emplace(service);
  if (is_new) entry->second.revision = revision_;
  return entry;
}

void Directory::changed(Service& service) {
  service.revision = ++revision_;
  for (ServiceWatcher* watcher : service.watchers) watcher->notify();
}

void Directory::forget_if_unused(Services::iterator service) {
  if (service->second.instances.empty() && service->second.watchers.empty()) services_.erase(service);
}

Result<void> Directory::add(const ServiceName& service, Instance instance) {
  const std::lock_guard lock(mutex_);
  const auto entry = open(service);
  const std::string id = instance.id;
  if (!entry->second.instances.try_emplace(id, std::move(instance)).second)
    return Error(Errc::config,
                 "registry " + name_ + ": " + service.text() + " has an instance " + id + " already; ids are unique",
                 Delivery::not_run, Advice::never);
  for (ServiceWatcher* watcher : entry->second.watchers) watcher->withdrawn_.erase(id);
  changed(entry->second);
  return {};
}

void Directory::replace(const ServiceName& service, Instance instance) {
  const std::lock_guard lock(mutex_);
  const auto entry = services_.find(service);
  if (entry == services_.end()) return;
  const auto found = entry->second.instances.find(instance.id);
  if (found == entry->second.instances.end() || found->second == instance) return;
  found->second = std::move(instance);
  changed(entry->second);
}

void Directory::remove(const ServiceName& service, const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto entry = services_.find(service);
  if (entry == services_.end() || entry->second.instances.erase(id) == 0) return;
  for (ServiceWatcher* watcher : entry->second.watchers) watcher->withdrawn_.insert(id);
  changed(entry->second);
  forget_if_unused(entry);
}

std::shared_ptr<ServiceWatcher> Directory::watch(const Subscription& subscription, SnapshotObserver observer,
                                                 Executor& executor) {
  auto watcher = std::make_shared<ServiceWatcher>(shared_from_this(), subscription, std::move(observer), executor);
  const std::lock_guard lock(mutex_);
  open(subscription.service)->second.watchers.push_back(watcher.get());
  watcher->notify();
  return watcher;
}

void Directory::end(ServiceWatcher& watcher) {
  const std::lock_guard lock(mutex_);
  watcher.ended_ = true;
  const auto entry = services_.find(watcher.subscription().service);
  std::erase(entry->second.watchers, &watcher);
  forget_if_unused(entry);
}

void ServiceWatcher::deliver(Work* work) noexcept {
  auto* const self = static_cast<ServiceWatcher*>(static_cast<Watcher*>(work));
  std::shared_ptr<Watcher> keep;
  Snapshot snapshot;
  {
    const std::lock_guard lock(self->directory_->mutex_);
    keep = self->arrive();
    if (self->ended_) return;
    const Directory::Service& service = self->directory_->services_.find(self->subscription_.service)->second;
    snapshot.revision = service.revision;
    snapshot.instances.reserve(service.instances.size());
    for (const auto& [id, instance] : service.instances) snapshot.instances.push_back(instance);
    snapshot.withdrawn.assign(self->withdrawn_.begin(), self->withdrawn_.end());
    self->withdrawn_.clear();
  }
  self->observer_(Result<Snapshot>(std::move(snapshot)));
}

Directory::Texts::iterator Directory::open_text(const std::string& kind, const std::string& group) {
  const auto [entry, is_new] = texts_.try_emplace({kind, group});
  if (is_new) {
    entry->second.document.kind = kind;
    entry->second.document.group = group;
  }
  return entry;
}

std::shared_ptr<DocumentWatcher> Directory::watch_document(const std::string& kind, const std::string& group,
                                                           DocumentObserver observer, Executor& executor) {
  auto watcher = std::make_shared<DocumentWatcher>(shared_from_this(), kind, group, std::move(observer), executor);
  const std::lock_guard lock(mutex_);
  open_text(kind, group)->second.watchers.push_back(watcher.get());
  watcher->notify();
  return watcher;
}

void Directory::end(DocumentWatcher& watcher) {
  const std::lock_guard lock(mutex_);
  watcher.ended_ = true;
  const auto entry = texts_.find({watcher.kind_, watcher.group_});
  std::erase(entry->second.watchers, &watcher);
  if (entry->second.watchers.empty() && entry->second.document.version == 0) texts_.erase(entry);
}

void DocumentWatcher::deliver(Work* work) noexcept {
  auto* const self = static_cast<DocumentWatcher*>(static_cast<Watcher*>(work));
  std::shared_ptr<Watcher> keep;
  Document document;
  {
    const std::lock_guard lock(self->directory_->mutex_);
    keep = self->arrive();
    if (self->ended_) return;
    document = self->directory_->texts_.find({self->kind_, self->group_})->second.document;
  }
  self->observer_(Result<Document>(std::move(document)));
}

std::vector<ServiceName> Directory::services() const {
  const std::lock_guard lock(mutex_);
  std::vector<ServiceName> known;
  for (const auto& [service, entry] : services_) known.push_back(service);
  return known;
}

std::vector<Instance> Directory::instances(const ServiceName& service) const {
  const std::lock_guard lock(mutex_);
  std::vector<Instance> known;
  const auto entry = services_.find(service);
  if (entry == services_.end()) return known;
  for (const auto& [id, instance] : entry->second.instances) known.push_back(instance);
  return known;
}

std::vector<Subscriber> Directory::subscribers(const ServiceName& service) const {
  const std::lock_guard lock(mutex_);
  const auto entry = services_.find(service);
  if (entry == services_.end()) return {};
  std::set<std::string> names;
  for (const ServiceWatcher* watcher : entry->second.watchers) names.insert(watcher->subscription().subscriber);
  std::vector<Subscriber> known;
  for (const std::string& name : names) known.push_back({name, "", false});
  return known;
}

std::vector<std::string> Directory::groups() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> known;
  for (const auto& [service, entry] : services_) known.insert(service.group);
  for (const auto& [name, text] : texts_)
    if (text.document.version != 0) known.insert(text.document.group);
  return {known.begin(), known.end()};
}

Document Directory::read(const std::string& kind, const std::string& group) const {
  const std::lock_guard lock(mutex_);
  const auto found = texts_.find({kind, group});
  if (found != texts_.end()) return found->second.document;
  Document none;
  none.kind = kind;
  none.group = group;
  return none;
}

Error Directory::conflict(const Document& document, std::uint64_t stored) const {
  return Error(Errc::already_exists,
               "registry " + name_ + ": the " + document.kind + " of group '" + document.group + "' has version " +
                   std::to_string(stored) + ", not " + std::to_string(document.version) +
                   "; read it again before writing",
               Delivery::not_run);
}

Result<void> Directory::write(const Document& document) {
  const std::lock_guard lock(mutex_);
  const auto found = texts_.find({document.kind, document.group});
  const std::uint64_t stored = found == texts_.end() ? 0 : found->second.document.version;
  if (document.version != stored) return conflict(document, stored);
  Text& text = open_text(document.kind, document.group)->second;
  text.document.text = document.text;
  text.document.version = ++version_;
  for (DocumentWatcher* watcher : text.watchers) watcher->notify();
  return {};
}

Result<void> Directory::remove_document(const Document& document) {
  const std::lock_guard lock(mutex_);
  const auto found = texts_.find({document.kind, document.group});
  const std::uint64_t stored = found == texts_.end() ? 0 : found->second.document.version;
  if (stored == 0)
    return Error(Errc::not_found,
                 "registry " + name_ + ": group '" + document.group + "' has no " + document.kind, Delivery::not_run,
                 Advice::never);
  if (document.version != stored) return conflict(document, stored);
  Text& text = found->second;
  text.document.text.clear();
  text.document.version = 0;
  for (DocumentWatcher* watcher : text.watchers) watcher->notify();
  if (text.watchers.empty()) texts_.erase(found);
  return {};
}

template <class T>
Result<void> Directory::set(const ServiceName& service, const std::string& id, T Instance::*what, T value) {
  const std::lock_guard lock(mutex_);
  const auto entry = services_.find(service);
  if (entry != services_.end()) {
    const auto found = entry->second.instances.find(id);
    if (found != entry->second.instances.end()) {
      if (std::exchange(found->second.*what, value) != value) changed(entry->second);
      return {};
    }
  }
  return Error(Errc::not_found, "registry " + name_ + ": " + service.text() + " has no instance " + id,
               Delivery::not_run, Advice::never);
}

Result<void> Directory::set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight) {
  return set(service, id, &Instance::weight, weight);
}

Result<void> Directory::set_serving(const ServiceName& service, const std::string& id, bool serving) {
  return set(service, id, &Instance::serving, serving);
}

}  // namespace tenon::inprocess
