#pragma once
// A hand that changes ZooKeeper behind everybody's back.

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace tenon::test {

/// A ZooKeeper client of its own, blocking, as another process would be. Threads: one.
class Hand {
 public:
  explicit Hand(const std::string& servers, const std::string& digest = {})
      : handle_(zookeeper_init2(servers.c_str(), nullptr, 5000, nullptr, nullptr, ZOO_NO_LOG_CLIENTENV,
                                [](const char*) {})) {
    if (!digest.empty())
      zoo_add_auth(handle_, "digest", digest.data(), static_cast<int>(digest.size()), nullptr, nullptr);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (zoo_state(handle_) != ZOO_CONNECTED_STATE && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
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

}  // namespace tenon::test
