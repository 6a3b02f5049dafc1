#pragma once
#include <optional>
#include <string>
#include <vector>

#include "layout.hpp"
#include "reconciler.hpp"
#include "tenon/registry.hpp"

namespace tenon::zk {

/// Keeps one instance's node where it should be: below `server` while it serves, below `unavailableServer` while it
/// does not, for some seconds as a tombstone there when it has been withdrawn, nowhere after that.
///
/// A node of our own session is never deleted but by a wish. One of another session is replaced, in one step, when it
/// is our own from a session before (the same instance id), or when this announcement has not held its place yet (a
/// process that restarted at once finds the node of its predecessor). Else somebody has taken the place from us: it is
/// his, and ours again when his node is gone. What an operator writes into our node (a weight, whether it serves) holds
/// until the owner's next update, also for the nodes that follow. Threads: the executor's. Ownership: of itself until
/// the wish to be gone is fulfilled, and of the lease.
class Announcement final : public Reconciler {
 public:
  static constexpr Duration tombstone_stays = std::chrono::seconds(5);

  /// `name`: of the node.
  Announcement(Session& session, const Layout& layout, ServiceName service, const std::string& name);

  const ServiceName& service() const noexcept { return service_; }
  const Instance& instance() const noexcept { return instance_; }
  /// It stands for an instance, or is going to.
  bool wanted() const noexcept { return wish_ == Wish::announced; }
  /// Announces for a new owner, whose number is returned; the last owner has no say any more. REQUIRES: !wanted().
  std::uint64_t announce(ServiceName service, Instance instance);
  /// Do nothing for whoever is not the owner.
  void update(std::uint64_t owner, Instance instance);
  void withdraw(std::uint64_t owner);

  /// Everything wished for is done, or this owner has no say.
  bool done(std::uint64_t owner) const noexcept { return owner != owner_ || done_ == wished_; }
  bool alive() const noexcept { return session() != nullptr; }
  bool connected() const noexcept { return alive() && session()->ready(); }
  /// Why it is not done.
  Error trouble() const;
  /// Rings when something may have changed.
  Bell& bell() noexcept { return bell_; }
  TimePoint now() const noexcept { return clock_.now(); }

 private:
  enum class Wish : std::uint8_t { announced, withdrawn, gone };
  enum class Round : std::uint8_t { settled, look_again, failed };
  // What stands at a path.
  struct Look {
    int code = ZOK;  // ZOK, ZNONODE, or what failed
    bool mine = false;
    int version = -1;   // of its data
    std::string id;     // of a foreign one
    bool tomb = false;  // a foreign one that has left
    bool there() const noexcept { return code == ZOK; }
  };

  Task<bool> reconcile() override;
  void on_new_session() override;
  void on_rest() override;
  bool lingers() const noexcept override { return wish_ == Wish::withdrawn && !stands_at_.empty(); }
  void on_stale(const Error&) override { bell_.ring(); }

  Task<Round> round();
  Task<Look> look(const std::string& path);
  Task<Round> rewrite(const std::string& path, const std::string& text, int version);
  Task<Round> apply(std::vector<Step> steps, const std::string& target, const std::string& text);
  void adopt(const Reply& reply);
  bool may_replace(const Look& foreign) const noexcept { return !held_ || foreign.tomb || foreign.id == instance_.id; }
  std::string text() const;
  void forget_operator() noexcept;
  bool serves() const noexcept { return operator_serving_.value_or(instance_.serving); }
  Round fail(const std::string& what, int code);
  void wish(Wish wish);

  Clock& clock_;
  ServiceName service_;
  const std::string serving_path_;
  const std::string unavailable_path_;
  Instance instance_;
  std::optional<std::uint32_t> operator_weight_;
  std::optional<bool> operator_serving_;
  Wish wish_ = Wish::gone;
  TimePoint tombstone_until_ = never;
  std::uint64_t owner_ = 0;
  std::uint64_t wished_ = 0;  // counts wishes
  std::uint64_t done_ = 0;    // the last one fulfilled
  bool held_ = false;         // this owner's node has stood once
  bool yields_ = false;
  std::string stands_at_;  // in this session
  std::string written_;
  int version_ = 0;  // of the data as we know it
  Error trouble_;
  Bell bell_;
  std::shared_ptr<Reconciler> self_;
};

/// Waits for what was wished. Fails with: unavailable (not by `deadline`; at most a second is waited without a
/// connection), or why it cannot be done.
Task<Result<void>> finish_withdrawal(std::shared_ptr<Announcement> announcement, std::uint64_t owner,
                                     TimePoint deadline);

}  // namespace tenon::zk
