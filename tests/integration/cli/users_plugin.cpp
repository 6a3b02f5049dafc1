// A service of plain functions in a plugin, for the tests of `tenon call` and `tenon serve`.

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tenon/functions.hpp"
#include "tenon/plugin.hpp"
#include "tenon/value.hpp"

namespace user {

struct User {
  std::string name;
  std::int64_t uid = 0;
  std::vector<std::string> mails;
};
BOOST_DESCRIBE_STRUCT(User, (), (name, uid, mails))

/// What one function got, in its own words, so that a test sees every argument as the server did.
std::string told(std::int32_t number, const std::map<std::string, std::vector<std::int32_t>>& lists,
                 const tenon::Bytes& bytes, const std::optional<std::string>& maybe) {
  std::string text = std::to_string(number) + " {";
  for (const auto& [name, list] : lists) {
    text += name + ":";
    for (const std::int32_t element : list) text += " " + std::to_string(element);
    text += ";";
  }
  return text + "} " + std::to_string(bytes.data.size()) + " bytes " + maybe.value_or("(none)");
}

/// The kinds of a value and of what is in it: "list(i32,i64)".
std::string kinds(const tenon::Value& value) {
  std::string inner;
  if (const tenon::Value::List* elements = value.list())
    for (const tenon::Value& element : *elements) inner += (inner.empty() ? "" : ",") + kinds(element);
  if (const tenon::Value::Map* entries = value.map())
    for (const auto& [key, content] : *entries) inner += (inner.empty() ? "" : ",") + kinds(content);
  return std::string(to_string(value.kind())) + (inner.empty() ? "" : "(" + inner + ")");
}

/// Kinds that JSON does not have, as an answer.
tenon::Value odd_kinds() {
  tenon::Value answer;
  answer["bytes"] = tenon::Bytes{std::string("\0\xff", 2)};
  answer["f32"] = 0.1f;
  answer["by number"] = tenon::Value::of_map({{std::int32_t{-7}, "minus seven"}, {true, nullptr}});
  return answer;
}

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
    service->add("addInts", [](std::int32_t a, std::int32_t b) { return a + b; });
    service->add("told", [](std::int32_t number, const std::map<std::string, std::vector<std::int32_t>>& lists,
                            const tenon::Bytes& bytes,
                            const std::optional<std::string>& maybe) { return told(number, lists, bytes, maybe); });
    service->add("nothing", [] { return std::string("nothing came"); });
    service->add("oddKinds", [] { return odd_kinds(); });
    service->add("kinds", [](const tenon::Value& value) { return kinds(value); });
    return std::unique_ptr<tenon::Service>(std::move(service));
  }
};

}  // namespace user

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "test-users",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Service, user::UserService>("user.UserService"); },
};
