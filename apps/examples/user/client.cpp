// Adds, changes, reads and deletes a user: user-client [--manifest FILE]
#include <cstdio>
#include <string>
#include <string_view>

#include "tenon/app.hpp"
#include "tenon/functions.hpp"
#include "user.hpp"

namespace {

/// The service's functions as members, called like functions.
struct UserService {
  explicit UserService(const std::shared_ptr<tenon::Reference>& reference)
      : add_user(reference, "addUser"),
        update_user(reference, "updateUser"),
        delete_user(reference, "deleteUser"),
        get_user(reference, "getUser", true) {}

  tenon::ClientFunction<bool(user::User)> add_user;
  tenon::ClientFunction<bool(std::int64_t, user::User)> update_user;
  tenon::ClientFunction<bool(std::int64_t)> delete_user;
  tenon::ClientFunction<user::UserInfo(std::int64_t)> get_user;
};

bool print(const char* function, const tenon::Result<bool>& done) {
  if (done.ok()) {
    std::printf("%s: %s\n", function, *done ? "true" : "false");
  } else {
    std::fprintf(stderr, "%s: %s\n", function, done.error().text().c_str());
  }
  return done.ok();
}

bool print(const char* function, const tenon::Result<user::UserInfo>& info) {
  if (info.ok()) {
    std::printf("%s: %s, %d, %zu mails, updated %u times\n", function, info->user.name.c_str(), info->user.age,
                info->user.mails.size(), info->updates);
  } else {
    std::fprintf(stderr, "%s: %s\n", function, info.error().text().c_str());
  }
  return info.ok();
}

bool show(const UserService& users) {
  user::User ada{7, "Ada", 36, {"ada@example.org"}};
  bool good = print("addUser", users.add_user(ada));
  good &= print("addUser again", users.add_user(ada));
  ada.age = 37;
  ada.mails.push_back("lovelace@example.org");
  good &= print("updateUser", users.update_user(ada.uid, ada));
  good &= print("getUser", users.get_user(ada.uid));
  good &= print("deleteUser", users.delete_user(ada.uid));

  // Errors are values, too.
  const tenon::Result<user::UserInfo> gone = users.get_user(ada.uid);
  if (gone.ok()) return false;
  std::printf("getUser of a deleted user: %s: %s\n", std::string(tenon::to_string(gone.error().code())).c_str(),
              gone.error().text().c_str());
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  std::string manifest = "client.yaml";
  if (argc == 3 && std::string_view(argv[1]) == "--manifest") {
    manifest = argv[2];
  } else if (argc != 1) {
    std::fprintf(stderr, "Usage: %s [--manifest FILE]\n", argv[0]);
    return 2;
  }
  auto app = tenon::App::from_manifest(manifest);
  if (!app.ok()) {
    std::fprintf(stderr, "%s\n", app.error().text().c_str());
    return 2;
  }
  if (const auto started = (*app)->start(); !started.ok()) {
    std::fprintf(stderr, "%s\n", started.error().text().c_str());
    return 1;
  }
  const UserService users((*app)->reference("users"));
  return show(users) ? 0 : 1;
}
