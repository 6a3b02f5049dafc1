#pragma once
// What the tests of registry-zk share: a server, and registries.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hand.hpp"
#include "support/registry_members.hpp"
#include "support/zookeeper_server.hpp"
#include "zk_registry.hpp"

namespace tenon::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Waits until it holds, looking again and again; false: not within the limit.
inline bool eventually(const std::function<bool()>& holds, milliseconds limit = seconds(20)) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

inline zk::ZkOptions zk_options(const std::string& servers) {
  zk::ZkOptions options;
  options.servers = servers;
  options.session_timeout = milliseconds(1000);
  options.connect_timeout = seconds(10);
  return options;
}

inline RegistryCase::Connect connect_to(const zk::ZkOptions& options) {
  return [options](Environment environment) -> std::unique_ptr<Registry> {
    auto made = zk::ZkRegistry::create(options, environment);
    EXPECT_TRUE(made.ok()) << made.error().text();
    return made.ok() ? std::move(*made) : nullptr;
  };
}

inline Instance provider(const std::string& address, std::uint32_t weight = 100) {
  Instance made;
  made.id = address + "/1";
  made.transport = "tcp";
  made.address = address;
  made.protocols = {"tenon", "motan2"};
  made.weight = weight;
  return made;
}

/// What an observer heard, errors too.
template <class News>
class Ears {
 public:
  std::function<void(const Result<News>&)> observer() {
    return [heard = heard_](const Result<News>& news) {
      const std::lock_guard lock(heard->mutex);
      if (news.ok()) {
        heard->news.push_back(*news);
        heard->stale = false;
      } else {
        ++heard->errors;
        heard->stale = true;
      }
    };
  }
  std::vector<News> all() const {
    const std::lock_guard lock(heard_->mutex);
    return heard_->news;
  }
  std::size_t count() const { return all().size(); }
  News latest() const {
    const auto news = all();
    return news.empty() ? News() : news.back();
  }
  int errors() const {
    const std::lock_guard lock(heard_->mutex);
    return heard_->errors;
  }
  /// The last word was an error.
  bool stale() const {
    const std::lock_guard lock(heard_->mutex);
    return heard_->stale;
  }

 private:
  struct Heard {
    std::mutex mutex;
    std::vector<News> news;
    int errors = 0;
    bool stale = false;
  };
  const std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
};

inline bool lists(const Ears<Snapshot>& ears, const std::vector<Instance>& wanted) {
  return ears.count() > 0 && same_instances(ears.latest().instances, wanted);
}

}  // namespace tenon::test
