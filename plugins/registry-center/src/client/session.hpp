#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "bell.hpp"
#include "calls.hpp"
#include "tenon/environment.hpp"
#include "tenon/reference.hpp"

namespace tenon::center {

/// This process as a center knows it: opened, kept alive by beats, opened again after every loss. What depends on it
/// (announcements, watches) looks at open() and generation() whenever the bell rings.
/// Threads: the executor's. Ownership: shared by whatever uses it; ended by stop(), after which it does nothing more.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Reference> center, std::string application, std::string token, Duration patience,
          Environment environment);

  /// Opens, on a turn of its own. Once.
  void start();
  void stop() noexcept;

  const Calls& calls() const noexcept { return calls_; }
  const ClientKey& key() const noexcept { return opening_.key; }
  const std::string& token() const noexcept { return opening_.token; }
  Clock& clock() const noexcept { return environment_.clock; }
  Log& log() const noexcept { return environment_.log; }
  Executor& executor() const noexcept { return environment_.executor; }
  /// How the center is called: not for long, and not longer than this session.
  CallOptions limits() noexcept;

  bool stopped() const noexcept { return stopped_; }
  /// The center has answered lately.
  bool open() const noexcept { return open_; }
  /// Grows when the center may have forgotten what was announced; 0 before the first opening.
  std::uint64_t generation() const noexcept { return generation_; }
  /// From when on it should be said that there is no center, unless it answers before; never while it is open.
  TimePoint hopeless_at() const noexcept { return open_ ? never : closed_since_ + patience_; }
  /// Why it is not open.
  Error trouble() const;
  /// Rings when open(), generation() or stopped() has changed.
  Bell& bell() noexcept { return bell_; }
  /// A call has failed: look now whether the center is there and knows us.
  void doubt() noexcept;
  /// Waits until it is open. False: not by `until`, or stopped.
  static Task<bool> wait_open(std::shared_ptr<Session> session, TimePoint until);

  /// How many instances the center should have from us now.
  void holds(std::int64_t change) noexcept { held_ += change; }
  /// Announcing or withdrawing is under way: the number cannot be compared.
  void busy(std::int64_t change) noexcept { busy_ += change; }
  /// Revisions of this process's snapshots: the center's start anew when it loses its store.
  std::uint64_t next_revision() noexcept { return ++revision_; }

 private:
  static Task<void> run(std::shared_ptr<Session> self);
  Task<Result<Opened>> reopen();
  Task<bool> live(Duration between);
  void set_open(bool open) noexcept;
  void complain(const Error& error);
  static Task<void> say_goodbye(std::shared_ptr<Session> self);

  const Environment environment_;
  const Duration patience_;
  const Calls calls_;
  Opening opening_;
  bool started_ = false;
  bool stopped_ = false;
  bool open_ = false;
  bool doubted_ = false;
  TimePoint closed_since_;
  std::uint64_t generation_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t revision_ = 0;
  std::int64_t held_ = 0;
  std::int64_t busy_ = 0;
  Error trouble_;
  TimePoint next_complaint_{};
  std::string complained_;  // the last complaint, while there is no center
  CancelSource give_up_;  // every call under way, when it is stopped
  Bell bell_;             // for those who use it
  Bell alarm_;            // for its own loop
};

}  // namespace tenon::center
