#pragma once
// What the tests of registry-consul share: registries over an agent, and what observers heard.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "consul_registry.hpp"
#include "support/consul_agent.hpp"
#include "support/registry_members.hpp"

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

inline consul::ConsulOptions consul_options(const std::string& address) {
  consul::ConsulOptions options;
  options.address = address;
  options.ttl = seconds(30);
  options.connect_timeout = seconds(10);
  return options;
}

inline RegistryCase::Connect connect_to(const consul::ConsulOptions& options) {
  return [options](Environment environment) -> std::unique_ptr<Registry> {
    auto made = consul::ConsulRegistry::create(options, environment);
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
        heard->errors.push_back(news.error().text());
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
  std::vector<std::string> errors() const {
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
    std::vector<std::string> errors;
    bool stale = false;
  };
  const std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
};

inline bool lists(const Ears<Snapshot>& ears, const std::vector<Instance>& wanted) {
  return ears.count() > 0 && !ears.stale() && same_instances(ears.latest().instances, wanted);
}

/// A registry whose observers may hear errors.
class Member : public RegistryMember {
 public:
  explicit Member(const consul::ConsulOptions& options) : RegistryMember(connect_to(options)) {}
  ~Member() {
    on([&] {
      watches_.clear();
      leases_.clear();
    });
  }
  void follow(const ServiceName& service, Ears<Snapshot>& ears) {
    on([&] {
      auto made = registry->watch({service, "test"}, ears.observer());
      ASSERT_TRUE(made.ok()) << made.error().text();
      watches_.push_back(std::move(*made));
    });
  }
  void follow_document(const std::string& kind, const std::string& group, Ears<Document>& ears) {
    on([&] {
      auto made = registry->watch_document(kind, group, ears.observer());
      ASSERT_TRUE(made.ok()) << made.error().text();
      watches_.push_back(std::move(*made));
    });
  }
  /// Announced until this ends; null when it was refused.
  Lease* provide(const ServiceName& service, const Instance& instance) {
    auto made = announce(service, instance);
    EXPECT_TRUE(made.ok()) << made.error().text();
    if (!made.ok()) return nullptr;
    leases_.push_back(std::move(*made));
    return leases_.back().get();
  }
  RegistryAdmin& admin() {
    return *on([&] { return registry->admin(); });
  }

 private:
  std::vector<std::unique_ptr<Watch>> watches_;
  std::vector<std::unique_ptr<Lease>> leases_;
};

}  // namespace tenon::test
