#pragma once
#include <sys/types.h>

#include <string>

#include "address.hpp"
#include "socket.hpp"
#include "tenon/result.hpp"

namespace tenon::tcp {

/// The file of a unix socket this process listens on; removed with its owner, unless somebody has replaced it since.
class UnixFile {
 public:
  UnixFile() = default;
  /// Takes charge of the socket file at `path`, which exists.
  explicit UnixFile(std::string path);
  UnixFile(UnixFile&& other) noexcept { *this = std::move(other); }
  UnixFile& operator=(UnixFile&& other) noexcept;
  ~UnixFile() { remove(); }
  /// Unlinks it. Idempotent.
  void remove() noexcept;

 private:
  std::string path_;  // empty: nothing to remove
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Permissions as a manifest writes them: "0600", "660". Fails with: config.
Result<mode_t> parse_socket_mode(const std::string& text);

/// Binds `socket` to a unix address and listens. A file that a dead server left behind (connecting is refused) is
/// replaced. Starters of one address are kept apart by a lock on its directory, waited for at most a second.
/// Fails with: unavailable, naming the address: in use, not a socket, no such directory, no permission.
Result<UnixFile> listen_unix(const Fd& socket, const SocketAddress& address, mode_t mode, int backlog);

}  // namespace tenon::tcp
