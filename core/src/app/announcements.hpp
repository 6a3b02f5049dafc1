#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "tenon/app.hpp"
#include "tenon/log.hpp"
#include "tenon/registry.hpp"

namespace tenon {

/// What an application has announced: a lease for each service, port and registry.
/// Threads: any, where nothing else is said; leases are touched on the control loop only.
class Announcements {
 public:
  struct Wanted {
    Announcement what;
    std::shared_ptr<Registry> registry;
  };

  Announcements(Loop& control, Log& log);
  Announcements(const Announcements&) = delete;
  Announcements& operator=(const Announcements&) = delete;
  ~Announcements();

  /// Announces all of them at once, so that a registry that does not answer keeps no other waiting. Once.
  /// Threads: foreign ones. Blocking: until each registry has taken its own, or said why not, as long as `patient()`
  /// says so.
  /// Fails with: what the first that fails fails with; the others stay announced. cancelled: nobody was patient; what
  /// is announced later is withdrawn by withdraw(), or after it.
  Result<void> announce(std::vector<Wanted> wanted, const std::function<bool()>& patient);
  Result<void> update(const ServiceName& service, const AnnouncementChange& change);
  /// While it is on, instances are announced as not serving, whatever they are otherwise. Threads: any. Blocking: no.
  void pause(bool on);
  std::vector<Announcement> list() const;
  /// Takes all of them off at once. False: a registry has not even said by `deadline` that it cannot; it is still at
  /// it. Threads: foreign ones. Blocking: until they are, at most a moment beyond `deadline`.
  bool withdraw(TimePoint deadline);
  /// Lets go of the leases. Threads: foreign ones, or the control loop's. Blocking: until the loop has done it.
  void drop();
  /// Leaves the leases behind, for an application that cannot be taken apart.
  void abandon() noexcept;

 private:
  struct Board;
  Loop& control_;
  std::shared_ptr<Board> board_;  // posts on their way hold it, too
};

}  // namespace tenon
