#pragma once
// What the tests of registry-zk share: a server, registries, and a hand that changes ZooKeeper behind their backs.

#include <gtest/gtest.h>
#include <zookeeper/zookeeper.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/registry_members.hpp"
#include "support/zookeeper_server.hpp"
#include "zk_registry.hpp"

namespace tenon::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A ZooKeeper client of its own, blocking, as another process would be. Threads: one.
class Hand {
 public:
  explicit Hand(const std::string& servers, const std::string& digest = {})
      : handle_(zookeeper_init2(servers.c_str(), nullptr, 5000, nullptr, nullptr, ZOO_NO_LOG_CLIENTENV,
                                [](const char*) {})) {
    if (!digest.empty())
      zoo_add_auth(handle_, "digest", digest.data(), static_cast<int>(digest.size()), nullptr, nullptr);
    const auto until = std::chrono::steady_clock::now() + seconds(20);
    while (zoo_state(handle_) != ZOO_CONNECTED_STATE && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(milliseconds(5));
  }
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;
  ~Hand() { zookeeper_close(handle_); }

  /// With the nodes above.
  int create(const std::string& path, const std::string& data, int mode = ZOO_PERSISTENT) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
      zoo_create(handle_, path.substr(0, slash).c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, nullptr, 0);
    return zoo_create(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE, mode,
                      nullptr, 0);
  }
  int set(const std::string& path, const std::string& data) {
    return zoo_set(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), -1);
  }
  int remove(const std::string& path) { return zoo_delete(handle_, path.c_str(), -1); }
  /// With everything below.
  void remove_all(const std::string& path) {
    for (const std::string& name : names(path)) remove_all(path + "/" + name);
    remove(path);
  }
  /// "(none)" when it is not there.
  std::string get(const std::string& path) {
    std::vector<char> buffer(1 << 20);
    int length = static_cast<int>(buffer.size());
    const int code = zoo_get(handle_, path.c_str(), 0, buffer.data(), &length, nullptr);
    return code == ZOK ? std::string(buffer.data(), static_cast<std::size_t>(std::max(length, 0))) : "(none)";
  }
  std::vector<std::string> names(const std::string& path) {
    String_vector found{};
    std::vector<std::string> names;
    if (zoo_get_children(handle_, path.c_str(), 0, &found) != ZOK) return names;
    names.assign(found.data, found.data + found.count);
    deallocate_String_vector(&found);
    return names;
  }
  /// The session that owns an ephemeral node; 0: none, or no node.
  std::int64_t owner(const std::string& path) { return stat(path).ephemeralOwner; }
  Stat stat(const std::string& path) {
    Stat stat{};
    zoo_exists(handle_, path.c_str(), 0, &stat);
    return stat;
  }

 private:
  zhandle_t* handle_;
};

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
