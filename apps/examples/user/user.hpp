#pragma once
// What the user service and its clients agree on.

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/describe.hpp"

namespace user {

struct User {
  std::int64_t uid = 0;
  std::string name;
  std::int32_t age = 0;
  std::vector<std::string> mails;
  bool operator==(const User&) const = default;
};
BOOST_DESCRIBE_STRUCT(User, (), (uid, name, age, mails))

/// A user as the service keeps it.
struct UserInfo {
  User user;
  std::uint32_t updates = 0;  ///< how often it was changed since it was added
};
BOOST_DESCRIBE_STRUCT(UserInfo, (), (user, updates))

inline constexpr const char* service_name = "user.UserService";

}  // namespace user
