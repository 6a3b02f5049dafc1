#pragma once
#include <dirent.h>

#include <cstddef>

namespace tenon::test {

/// How many file descriptors this process has open.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* dir = ::opendir("/proc/self/fd");
  if (!dir) return 0;
  while (::readdir(dir)) ++count;
  ::closedir(dir);
  return count;
}

}  // namespace tenon::test
