#include "peer_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <thread>

namespace tenon::cli {

namespace {

constexpr std::string_view scheme = "unix:";

/// A socket that is connected to that path; -1: nobody listens there.
int connected(const std::string& path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (path.size() >= sizeof at.sun_path) return -1;
  std::memcpy(at.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

}  // namespace

PeerProcess::PeerProcess(const std::string& address)
    : path_(address.starts_with(scheme) ? address.substr(scheme.size()) : address) {
  const int fd = connected(path_);
  if (fd < 0) return;
  ucred peer{};
  socklen_t size = sizeof peer;
  // Who called listen(); 0 in a pid namespace that does not see it.
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
    process_ = static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0));
  ::close(fd);
}

PeerProcess::~PeerProcess() {
  if (process_ >= 0) ::close(process_);
}

bool PeerProcess::gone(Duration limit) const {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit);
  if (process_ >= 0) {
    pollfd ended{process_, POLLIN, 0};
    return ::poll(&ended, 1, static_cast<int>(ms.count())) == 1;
  }
  std::this_thread::sleep_for(ms);
  const int fd = connected(path_);
  if (fd >= 0) ::close(fd);
  return fd < 0;
}

}  // namespace tenon::cli
