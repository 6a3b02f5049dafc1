#pragma once
#include <sys/types.h>

#include <string>

#include "tenon/clock.hpp"

namespace tenon::cli {

/// The process that listens at a unix socket, to see it end. Threads: one.
class PeerProcess {
 public:
  /// `address`: "unix:/path.sock". Blocking: a connect().
  explicit PeerProcess(const std::string& address);
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;
  ~PeerProcess();

  /// It has ended. Where that cannot be seen (another pid namespace): nobody listens there any more.
  /// Blocking: until then, at most `limit`.
  bool gone(Duration limit) const;

 private:
  const std::string path_;
  int process_ = -1;
};

}  // namespace tenon::cli
