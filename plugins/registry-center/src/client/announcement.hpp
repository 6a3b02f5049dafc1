#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "session.hpp"

namespace tenon::center {

/// Brings one instance to where it should be at the center: announced, changed, withdrawn; again after every loss.
/// One call at a time; wishes that come meanwhile follow it. Threads: the executor's. Ownership: shared; while it has
/// something to do it keeps itself alive.
class Announcement : public std::enable_shared_from_this<Announcement> {
 public:
  Announcement(std::shared_ptr<Session> session, ServiceName service, Instance instance);

  void begin();
  void update(Instance instance);
  void withdraw();

  /// The last wish is fulfilled, or never will be (refusal()).
  bool done() const noexcept { return refusal_ || fulfilled_ == wished_; }
  /// What the center said that another attempt will not change; none: it did not.
  const Error& refusal() const noexcept { return refusal_; }
  /// Why it is not done.
  Error trouble() const;
  const std::shared_ptr<Session>& session() const noexcept { return session_; }
  /// Rings when done() may have changed.
  Bell& bell() noexcept { return bell_; }
  std::string who() const { return service_.text() + " at " + instance_.address; }

 private:
  static Task<void> run(std::shared_ptr<Announcement> self);
  Task<Result<void>> put_up();
  Task<Result<void>> take_down();
  void settle(const Result<void>& result, std::uint64_t wish, bool withdrawn, std::uint64_t generation);

  const std::shared_ptr<Session> session_;
  const ServiceName service_;
  Instance instance_;
  bool withdrawn_ = false;
  std::uint64_t wished_ = 1;        // counts wishes
  std::uint64_t fulfilled_ = 0;     // the last one the center knows
  std::uint64_t announced_in_ = 0;  // the session's generation in which the center got it; 0: it has not got it
  bool changed_ = false;            // by its provider since the center got it
  Error refusal_;
  Error trouble_;
  Bell bell_;
};

/// Waits for the last wish to be fulfilled. Fails with: unavailable (not by `deadline`; without a connection at most a
/// second is waited), or what the center refuses.
Task<Result<void>> finish(std::shared_ptr<Announcement> announcement, TimePoint deadline);

}  // namespace tenon::center
