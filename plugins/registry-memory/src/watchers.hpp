#pragma once
#include <memory>
#include <set>
#include <string>

#include "directory.hpp"

namespace tenon::inprocess {

/// Somebody who wants to be told. Changes that come faster than its executor runs are told as one.
/// Threads: notify() with the directory's mutex held, on any; the observer runs on the executor. Ownership: of the
/// Watch, and of itself while it is posted.
class Watcher : public Work {
 public:
  explicit Watcher(Executor& executor) noexcept : executor_(executor) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  virtual ~Watcher() = default;

 protected:
  // With the directory's mutex held.
  void post(std::shared_ptr<Watcher> self, void (*how)(Work*) noexcept) noexcept {
    if (keep_) return;  // on its way
    keep_ = std::move(self);
    run = how;
    executor_.post(*this);
  }
  // Arrived.
  std::shared_ptr<Watcher> arrive() noexcept { return std::move(keep_); }
  bool ended_ = false;

 private:
  Executor& executor_;
  std::shared_ptr<Watcher> keep_;  // while posted
};

/// Wants to know who offers a service.
class ServiceWatcher final : public Watcher, public std::enable_shared_from_this<ServiceWatcher> {
 public:
  ServiceWatcher(std::shared_ptr<Directory> directory, Subscription subscription, SnapshotObserver observer,
                 Executor& executor)
      : Watcher(executor),
        directory_(std::move(directory)),
        subscription_(std::move(subscription)),
        observer_(std::move(observer)) {}
  const Subscription& subscription() const noexcept { return subscription_; }

 private:
  friend class Directory;
  void notify() noexcept { post(shared_from_this(), &ServiceWatcher::deliver); }
  static void deliver(Work* work) noexcept;

  const std::shared_ptr<Directory> directory_;
  const Subscription subscription_;
  const SnapshotObserver observer_;
  std::set<std::string> withdrawn_;  // since the last snapshot
};

/// Wants to know a text.
class DocumentWatcher final : public Watcher, public std::enable_shared_from_this<DocumentWatcher> {
 public:
  DocumentWatcher(std::shared_ptr<Directory> directory, std::string kind, std::string group, DocumentObserver observer,
                  Executor& executor)
      : Watcher(executor),
        directory_(std::move(directory)),
        kind_(std::move(kind)),
        group_(std::move(group)),
        observer_(std::move(observer)) {}

 private:
  friend class Directory;
  void notify() noexcept { post(shared_from_this(), &DocumentWatcher::deliver); }
  static void deliver(Work* work) noexcept;

  const std::shared_ptr<Directory> directory_;
  const std::string kind_;
  const std::string group_;
  const DocumentObserver observer_;
};

}  // namespace tenon::inprocess
