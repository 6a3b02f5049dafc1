#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "center_options.hpp"
#include "listed.hpp"
#include "preservation.hpp"
#include "pushes.hpp"
#include "texts.hpp"

namespace tenon::center {

/// How often a center looks at its leases.
Duration tick_period(Duration lease) noexcept;

/// Somebody who fell silent and was dropped.
struct Lost {
  std::string name;
  Duration silent{};
  std::size_t instances = 0;
  std::size_t subscriptions = 0;
};

/// What one look at the leases brought, for the log.
struct Round {
  std::vector<Lost> lost;
  Preservation::Change preservation = Preservation::Change::none;
  std::size_t missing = 0;  ///< instances of those who are late
  std::size_t all = 0;      ///< instances before the look
  bool became_whole = false;
};

/// What an operator wants, and how often the provider had changed the instance by then.
struct Planned {
  Override value;
  std::uint64_t updates = 0;
};

/// Everything a center knows, and its rules: who announces what and who watches. Time is an argument, that of leases
/// (LeaseClock); it never goes back.
///
/// Texts of errors say whose fault it was by the client's name, never by its secret.
/// Pure: no clock, no lock, no thread. Ownership: of everything but watchers.
class Table {
 public:
  /// `epoch`: of this run, higher than that of every run before. Revisions begin with it.
  Table(const CenterOptions& options, std::uint64_t epoch);

  // Each fails with: invalid_argument; all but open() with not_found (nobody opened this client, or it was silent for
  // too long); permission_denied (another secret); overloaded (too many).
  Result<Opened> open(const Opening& opening, TimePoint now);
  Result<Beaten> beat(const ClientKey& key, TimePoint now);
  /// What operators set stays, unless it is an `update` by the provider. Fails with: permission_denied when the id is
  /// somebody else's.
  Result<void> announce(const ClientKey& key, const ServiceName& service, const Instance& instance, bool update,
                        TimePoint now);
  /// One that is not there is gone already. Fails with: permission_denied.
  Result<void> withdraw(const ClientKey& key, const ServiceName& service, const std::string& id, TimePoint now);
  Result<void> close(const ClientKey& key, TimePoint now);
  /// `watcher.name` is who watches.
  Result<void> watch(const ClientKey& key, const ServiceName& service, Watcher& watcher, TimePoint now);
  Result<void> watch_document(const ClientKey& key, const std::string& kind, const std::string& group, Watcher& watcher,
                              TimePoint now);
  /// Ends a subscription; nothing when it has ended.
  void leave(Watcher& watcher) noexcept;
  /// Ends every subscription.
  void end_all(const Error& why);

  /// The center has stood still until now: whoever has instances may need to connect again, and is not dropped for as
  /// long as after a start.
  void stood_still(TimePoint now) noexcept { spared_until_ = now + options_.settle; }
  /// A look at the leases.
  Round tick(TimePoint now);
  /// See Pushes::advance().
  TimePoint advance_pushes(TimePoint now);
  Pushes& pushes() noexcept { return pushes_; }

  /// What a service's watchers are sent: made once for each revision. REQUIRES: somebody watches it.
  std::shared_ptr<const List> list(Listed& service) const;

  // For operators.
  std::vector<ServiceName> services() const;
  std::vector<Instance> instances(const ServiceName& service) const;
  std::vector<Subscriber> subscribers(const ServiceName& service) const;
  std::vector<std::string> groups() const;
  State state(TimePoint now) const;
  /// What an operator wants, as it would have to be kept. Fails with: not_found, overloaded.
  Result<Planned> plan(const ServiceName& service, const std::string& id, std::optional<std::uint32_t> weight,
                       std::optional<bool> serving) const;
  /// Lays it over the instance. False: the instance has gone since, or its provider has changed it.
  bool apply(const Planned& planned);

  Texts& texts() noexcept { return texts_; }
  OperatorState& operator_state() noexcept { return operator_state_; }
  std::uint64_t epoch() const noexcept { return epoch_; }

 private:
  struct Tomb {
    InstanceName of;
    TimePoint until;
  };
  using Services = std::map<ServiceName, Listed, ByName>;

  Result<Client*> find(const ClientKey& key, TimePoint now);
  Result<Client*> admit(const ClientKey& key, TimePoint now);
  void enlist(Client& client, Watcher& watcher);
  Listed& open_service(const ServiceName& service);
  Listed* known(const ServiceName& service);
  const Listed* known(const ServiceName& service) const;
  Result<void> has_room(const Client& client, const Listed* listed, const Held* before, const Instance& instance,
                        std::size_t bytes) const;
  Result<void> put(Client& client, const ServiceName& service, const Instance& instance, bool update);
  void take_off(Listed& service, const std::string& id, TimePoint now);
  void bury(const InstanceName& of, TimePoint now);
  void drop(Client& client, bool on_purpose, const Error& why, TimePoint now);
  void changed(Listed& service);
  void forget_if_unused(Listed& service);
  void end_watchers(Client& client, const Error& why);
  void expire_tombs(TimePoint now);
  void become_whole();

  const CenterOptions options_;
  const Duration lease_;
  const Duration beat_;
  const Duration patience_;  // of silence: a lease, and what ticks may be late
  const Duration doubt_;     // after the start: what clients may need to come back
  const std::uint64_t epoch_;
  std::map<std::string, Client> clients_;  // by id
  Services services_;
  std::deque<Tomb> tombs_;  // oldest first
  Texts texts_;
  OperatorState operator_state_;
  Pushes pushes_;
  Preservation preservation_;
  std::uint64_t revision_;  // the newest of all services
  std::size_t instances_ = 0;
  std::size_t subscriptions_ = 0;
  TimePoint spared_until_{};  // nobody who has instances is dropped before
  bool whole_ = false;
};

}  // namespace tenon::center
