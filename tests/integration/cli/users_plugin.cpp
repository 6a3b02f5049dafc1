// A service of plain functions in a plugin, for the tests of `tenon call` and `tenon serve`.

#include <map>
#include <mutex>

#include "tenon/functions.hpp"
#include "tenon/plugin.hpp"

namespace user {

struct User {
  std::string name;
  std::int64_t uid = 0;
  std::vector<std::string> mails;
};
BOOST_DESCRIBE_STRUCT(User, (), (name, uid, mails))

class Store {
 public:
  bool add(const User& user) {
    const std::lock_guard lock(mutex_);
    return users_.emplace(user.uid, user).second;
  }
  tenon::Result<User> get(std::int64_t uid) {
    const std::lock_guard lock(mutex_);
    const auto found = users_.find(uid);
    if (found != users_.end()) return found->second;
    return tenon::Error(tenon::Errc::application, "there is no user " + std::to_string(uid), tenon::Delivery::ran);
  }

 private:
  std::mutex mutex_;
  std::map<std::int64_t, User> users_;
};

struct UserService {
  using Options = tenon::NoOptions;
  static tenon::Result<std::unique_ptr<tenon::Service>> create(Options, tenon::Environment) {
    auto store = std::make_shared<Store>();
    auto service = std::make_unique<tenon::Functions>("user.UserService");
    service->add("addUser", [store](const User& user) { return store->add(user); });
    service->add(
        "getUser", [store](std::int64_t uid) { return store->get(uid); }, true);
    service->add(
        "add", [](std::int64_t a, std::int64_t b) { return a + b; }, true);
    return std::unique_ptr<tenon::Service>(std::move(service));
  }
};

}  // namespace user

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "test-users",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Service, user::UserService>("user.UserService"); },
};
