#pragma once
#include <sys/stat.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "credentials.hpp"
#include "tenon/clock.hpp"
#include "tenon/log.hpp"

namespace tenon::tls {

/// The credentials in force, following the files.
/// Threads: any. Blocking: every `reload` one caller looks at the files, and reads them when they changed.
class CredentialStore {
 public:
  /// Fails with: config, naming the file.
  static Result<std::unique_ptr<CredentialStore>> open(const TlsOptions& options, Log& log);

  /// For a new connection. Files that changed are read again first; if they are no good, what was in force stays, and
  /// a warning says why (once for each change).
  Credentials current(TimePoint now);

 private:
  /// What tells one state of a file from the next.
  struct Seen {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    timespec modified{};
    bool operator==(const Seen& other) const noexcept;
  };
  using AllSeen = std::array<Seen, 3>;

  CredentialStore(const TlsOptions& options, Log& log) : options_(options), log_(log) {}
  AllSeen look() const;

  const TlsOptions options_;
  Log& log_;
  std::mutex mutex_;
  Credentials credentials_;
  AllSeen seen_;
  TimePoint next_look_ = TimePoint::min();
};

}  // namespace tenon::tls
