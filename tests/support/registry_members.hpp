#pragma once
// Registries on executors of their own, and diaries of what their watchers heard.

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "support/recording_log.hpp"
#include "support/test_executor.hpp"
#include "tenon/environment.hpp"
#include "tenon/registry.hpp"

namespace tenon::test {

struct RegistryCase {
  /// Makes one more registry over the same store.
  using Connect = std::function<std::unique_ptr<Registry>(Environment)>;
  std::string name;
  /// A store of its own, empty; it lives as long as what is returned, and the registries made by it.
  std::function<Connect()> open;
  bool announces = true;                         ///< announcements are seen by watchers
  bool documents = true;                         ///< keeps documents, which admin() writes
  bool administered = true;                      ///< has an admin()
  Duration patience = std::chrono::seconds(20);  ///< how long a change may take to be seen
};

inline void PrintTo(const RegistryCase& shown, std::ostream* out) { *out << shown.name; }
inline std::string registry_case_name(const testing::TestParamInfo<RegistryCase>& info) { return info.param.name; }

inline bool contains(const std::vector<std::string>& texts, const std::string& wanted) {
  return std::find(texts.begin(), texts.end(), wanted) != texts.end();
}

/// Equal whatever their order.
inline bool same_instances(std::vector<Instance> a, std::vector<Instance> b) {
  const auto by_id = [](const Instance& x, const Instance& y) { return x.id < y.id; };
  std::sort(a.begin(), a.end(), by_id);
  std::sort(b.begin(), b.end(), by_id);
  return a == b;
}

/// What an observer heard. Threads: any. May end before the watch.
template <class News>
class Diary {
 public:
  std::function<void(const Result<News>&)> observer() {
    return [pages = pages_](const Result<News>& news) {
      const std::lock_guard lock(pages->mutex);
      pages->executors.insert(Executor::current());
      if (news.ok()) {
        pages->heard.push_back(*news);
      } else {
        ADD_FAILURE() << "an observer heard an error: " << news.error().text();
      }
      pages->arrived.notify_all();
    };
  }
  /// True as soon as the latest news are as wanted.
  bool wait(const std::function<bool(const News&)>& condition, Duration patience) {
    std::unique_lock lock(pages_->mutex);
    const auto wanted = [&] { return !pages_->heard.empty() && condition(pages_->heard.back()); };
    return pages_->arrived.wait_for(lock, patience, wanted);
  }
  /// All of it, in order.
  std::vector<News> heard() const {
    const std::lock_guard lock(pages_->mutex);
    return pages_->heard;
  }
  std::size_t count() const {
    const std::lock_guard lock(pages_->mutex);
    return pages_->heard.size();
  }
  News latest() const {
    const std::lock_guard lock(pages_->mutex);
    return pages_->heard.empty() ? News() : pages_->heard.back();
  }
  std::set<const Executor*> executors() const {
    const std::lock_guard lock(pages_->mutex);
    return pages_->executors;
  }

 private:
  struct Pages {
    std::mutex mutex;
    std::condition_variable arrived;
    std::vector<News> heard;
    std::set<const Executor*> executors;
  };
  const std::shared_ptr<Pages> pages_ = std::make_shared<Pages>();
};

using DocumentDiary = Diary<Document>;

class SnapshotDiary : public Diary<Snapshot> {
 public:
  /// Ids that were ever said to have left on purpose.
  std::set<std::string> withdrawn() const {
    std::set<std::string> ids;
    for (const Snapshot& snapshot : heard()) ids.insert(snapshot.withdrawn.begin(), snapshot.withdrawn.end());
    return ids;
  }
  /// Every revision is higher than the one before.
  bool grows() const {
    const std::vector<Snapshot> all = heard();
    const auto falls = [](const Snapshot& a, const Snapshot& b) { return b.revision <= a.revision; };
    return std::adjacent_find(all.begin(), all.end(), falls) == all.end();
  }
  /// The latest news, for messages.
  std::string text() const {
    const Snapshot now = latest();
    std::string text = "\nrevision " + std::to_string(now.revision) + ":";
    for (const Instance& instance : now.instances)
      text += " " + instance.id + "@" + instance.address + "*" + std::to_string(instance.weight) +
              (instance.serving ? "" : " (not serving)");
    for (const std::string& id : now.withdrawn) text += " -" + id;
    return text;
  }
};

/// One registry, its executor and its watches. Functions may be called on any thread.
class RegistryMember {
 public:
  explicit RegistryMember(const RegistryCase::Connect& connect) {
    executor.call([&] { registry = connect(Environment{executor, log, executor.clock()}); });
    if (!registry) throw std::runtime_error("no registry was made");
  }
  ~RegistryMember() {
    executor.call([&] {
      watches_.clear();
      registry.reset();
    });
  }

  /// Runs function() there.
  template <class F>
  auto on(F function) {
    if (executor.here()) return function();
    return executor.call(std::move(function));
  }
  template <class F>
  auto run(F make) {
    return executor.run(std::move(make));
  }

  Result<std::unique_ptr<Lease>> announce(const ServiceName& service, const Instance& instance) {
    return run([&] { return registry->announce(service, instance); });
  }
  void update(Lease& lease, const Instance& instance) {
    on([&] { lease.update(instance); });
  }
  Result<void> withdraw(Lease& lease) {
    const TimePoint until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    return run([&] { return lease.withdraw(until); });
  }
  void drop(std::unique_ptr<Lease>& lease) {
    on([&] { lease.reset(); });
  }

  Result<void> try_watch(const ServiceName& service, SnapshotDiary& diary, const std::string& subscriber = "test") {
    return on([&] { return keep(registry->watch({service, subscriber}, diary.observer())); });
  }
  void watch(const ServiceName& service, SnapshotDiary& diary, const std::string& subscriber = "test") {
    const Result<void> watched = try_watch(service, diary, subscriber);
    EXPECT_TRUE(watched.ok()) << watched.error().text();
  }
  Result<void> try_watch_document(const std::string& kind, const std::string& group, DocumentDiary& diary) {
    return on([&] { return keep(registry->watch_document(kind, group, diary.observer())); });
  }
  void end_watches() {
    on([&] { watches_.clear(); });
  }

  RecordingLog log;
  TestExecutor executor;
  std::unique_ptr<Registry> registry;

 private:
  Result<void> keep(Result<std::unique_ptr<Watch>> watch) {
    if (!watch.ok()) return std::move(watch).error();
    watches_.push_back(std::move(*watch));
    return {};
  }
  std::vector<std::unique_ptr<Watch>> watches_;
};

}  // namespace tenon::test
