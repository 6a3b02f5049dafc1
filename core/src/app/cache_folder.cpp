#include "app/cache_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon {

Result<void> make_cache_folder(const std::string& path) {
  const auto refuse = [&path](const std::string& why) {
    return Error(Errc::config, "the folder " + path + ' ' + why, Delivery::not_run);
  };
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && slash == std::string::npos)
      return refuse(std::string("cannot be created: ") + std::strerror(errno));
    if (slash == std::string::npos) break;
  }
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return refuse(std::string("cannot be examined: ") + std::strerror(errno));
  if (!S_ISDIR(facts.st_mode)) return refuse("is no folder");
  if ((facts.st_mode & S_IWOTH) != 0)
    return refuse("can be written by everybody, and what it holds says where calls go; run: chmod o-w " + path);
  if (facts.st_uid != 0 && facts.st_uid != ::geteuid())
    return refuse("belongs to user " + std::to_string(facts.st_uid) + ", and what it holds says where calls go");
  if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0)
    return refuse(std::string("cannot be used: ") + std::strerror(errno));
  return {};
}

}  // namespace tenon
