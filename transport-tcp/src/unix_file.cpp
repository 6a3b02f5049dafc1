#include "unix_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include "unix_address.hpp"

namespace tenon::tcp {

namespace {

Error unavailable(const SocketAddress& address, const std::string& what) {
  return Error(Errc::unavailable, unix_text(address) + ": " + what, Delivery::not_run);
}
Error unavailable(const SocketAddress& address, int error) {
  std::string text = system_text(error);
  if (error == ENOENT || error == ENOTDIR) text += " (the socket's directory must exist)";
  if (error == EACCES || error == EROFS) text += " (the socket's directory must be writable)";
  return unavailable(address, text);
}

/// Held while a socket file is looked at and replaced. A directory that cannot be opened or locked goes without: what
/// is lost is only that two starters at the same moment cannot both find the same file stale.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& file) {
    const std::string directory = file.substr(0, std::max<std::size_t>(file.rfind('/'), 1));
    fd_ = Fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int tries = 0; fd_ && tries < 100; ++tries) {
      if (::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  Fd fd_;
};

/// Makes way for a new socket file. Fails when something lives there.
Result<void> clear(const SocketAddress& address, const std::string& file) {
  struct stat found {};
  if (::lstat(file.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    return unavailable(address, errno);
  }
  if (!S_ISSOCK(found.st_mode))
    return unavailable(address, "the file exists and is no socket; remove it or choose another path");
  const Fd probe = open_socket(AF_UNIX);
  if (!probe) return unavailable(address, errno);
  const int answer = ::connect(probe.get(), address.get(), address.size) == 0 ? 0 : errno;
  if (answer == ENOENT) return {};
  // EAGAIN: its queue is full. Somebody is there, even if we may not or cannot talk to them.
  if (answer != ECONNREFUSED) return unavailable(address, system_text(EADDRINUSE));
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) return unavailable(address, errno);
  return {};
}

}  // namespace

UnixFile::UnixFile(std::string path) {
  struct stat made {};
  if (::lstat(path.c_str(), &made) != 0) return;
  path_ = std::move(path);
  device_ = made.st_dev;
  inode_ = made.st_ino;
}

UnixFile& UnixFile::operator=(UnixFile&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

void UnixFile::remove() noexcept {
  if (path_.empty()) return;
  struct stat now {};
  if (::lstat(path_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == inode_) (void)::unlink(path_.c_str());
  path_.clear();
}

Result<mode_t> parse_socket_mode(const std::string& text) {
  unsigned mode = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (text.empty() || text.size() > 4 || fault != std::errc() || end != text.data() + text.size() || mode > 0777)
    return Error(Errc::config,
                 "socket_mode '" + text.substr(0, 40) + "' is no file mode; write three octal digits: 0660",
                 Delivery::not_run, Advice::never);
  return static_cast<mode_t>(mode);
}

Result<UnixFile> listen_unix(const Fd& socket, const SocketAddress& address, mode_t mode, int backlog) {
  const std::string file = unix_file(address);
  if (file.empty()) {
    if (::bind(socket.get(), address.get(), address.size) != 0 || ::listen(socket.get(), backlog) != 0)
      return unavailable(address, system_text(errno));
    return UnixFile();
  }
  const DirectoryLock lock(file);
  if (auto cleared = clear(address, file); !cleared.ok()) return std::move(cleared).error();
  // The file gets the socket's mode less the umask, so at no moment more than was asked for.
  if (::fchmod(socket.get(), mode) != 0) return unavailable(address, errno);
  if (::bind(socket.get(), address.get(), address.size) != 0)
    return errno == EADDRINUSE ? unavailable(address, system_text(errno)) : unavailable(address, errno);
  UnixFile bound(file);
  struct stat made {};
  if (::lstat(file.c_str(), &made) != 0 || !S_ISSOCK(made.st_mode))
    return unavailable(address, "the file was replaced");
  if ((made.st_mode & 0777) != mode && ::chmod(file.c_str(), mode) != 0) return unavailable(address, errno);
  if (::listen(socket.get(), backlog) != 0) return unavailable(address, errno);
  return bound;
}

}  // namespace tenon::tcp
