// user.UserService for the stock host: `tenon serve --manifest server.yaml`.
#include "tenon/plugin.hpp"

#include <map>
#include <mutex>

#include "tenon/functions.hpp"
#include "user.hpp"

namespace user {
namespace {

/// Threads: any.
class Users {
 public:
  bool add(const User& user) {
    const std::lock_guard lock(mutex_);
    return users_.try_emplace(user.uid, UserInfo{user, 0}).second;
  }
  /// False: there is no user `uid`.
  tenon::Result<bool> update(std::int64_t uid, const User& user) {
    if (user.uid != uid)
      return tenon::Error(tenon::Errc::invalid_argument, "updateUser: user " + std::to_string(uid) +
                                                             " cannot become user " + std::to_string(user.uid));
    const std::lock_guard lock(mutex_);
    const auto found = users_.find(uid);
    if (found == users_.end()) return false;
    found->second = UserInfo{user, found->second.updates + 1};
    return true;
  }
  bool remove(std::int64_t uid) {
    const std::lock_guard lock(mutex_);
    return users_.erase(uid) == 1;
  }
  tenon::Result<UserInfo> get(std::int64_t uid) const {
    const std::lock_guard lock(mutex_);
    const auto found = users_.find(uid);
    if (found != users_.end()) return found->second;
    return tenon::Error(tenon::Errc::application, "there is no user " + std::to_string(uid));
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::int64_t, UserInfo> users_;
};

struct UserService {
  using Options = tenon::NoOptions;
  static tenon::Result<std::unique_ptr<tenon::Service>> create(Options, tenon::Environment) {
    auto users = std::make_shared<Users>();
    auto service = std::make_unique<tenon::Functions>(service_name);
    service->add("addUser", [users](const User& user) { return users->add(user); });
    service->add("updateUser", [users](std::int64_t uid, const User& user) { return users->update(uid, user); });
    service->add("deleteUser", [users](std::int64_t uid) { return users->remove(uid); });
    service->add(
        "getUser", [users](std::int64_t uid) { return users->get(uid); }, true);
    return std::unique_ptr<tenon::Service>(std::move(service));
  }
};

}  // namespace
}  // namespace user

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "service-user",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Service, user::UserService>(user::service_name); },
};
