#pragma once
// A `tenon center` of its own, and what the system says of it.

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/// A center in a process of its own that can be killed and started again at the same port. Threads: one, but figures
/// may be read from another while nobody starts or ends it. Its end kills the process.
class CenterProcess {
 public:
  /// `program`: `tenon`. `lease`: as --lease takes it. Nothing runs yet.
  CenterProcess(std::string program, std::string lease) : program_(std::move(program)), lease_(std::move(lease)) {}
  CenterProcess(const CenterProcess&) = delete;
  CenterProcess& operator=(const CenterProcess&) = delete;
  ~CenterProcess() { kill(); }

  /// Starts it with this store, and waits for its ready line, at most 20 s. Its log goes to a file beside the store.
  /// False: it did not come; the log is on stderr.
  bool start(const std::filesystem::path& store);
  /// SIGKILL.
  void kill();

  /// "127.0.0.1:40123", the same from the first start on.
  const std::string& address() const noexcept { return address_; }
  /// Resident memory in KiB; 0: it does not run.
  std::size_t resident_kib() const;
  /// Processor time it has had, in seconds.
  double processor_seconds() const;

 private:
  const std::string program_;
  const std::string lease_;
  std::string address_ = "127.0.0.1:0";
  pid_t pid_ = -1;
};

/// Raises the limit of open files to what is allowed, at least to `wanted`. False: less is allowed.
bool allow_open_files(std::size_t wanted);

}  // namespace bench
