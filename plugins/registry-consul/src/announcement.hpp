#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent.hpp"
#include "group_words.hpp"
#include "registration.hpp"
#include "tenon/registry.hpp"

namespace tenon::consul {

/// Brings one registration to where it should be at the agent: registered, its check passed in time, changed, taken
/// off; again whenever the agent does not have it any more. Looks at what is there before each beat, because ids are
/// host:port: another process that has taken the place is left alone, unless it is this very instance. What operators
/// say about a provider becomes part of what is registered until the provider says something else.
/// One request at a time; wishes that come meanwhile follow it. Threads: the executor's. Ownership: shared; while it
/// has something to do it keeps itself alive.
class Announcement : public std::enable_shared_from_this<Announcement>, private Dependant {
 public:
  /// Of a provider. `words` may be null.
  Announcement(std::shared_ptr<Agent> agent, ServiceName service, Instance instance, std::string id,
               std::shared_ptr<GroupWords> words);
  /// Of a consumer.
  Announcement(std::shared_ptr<Agent> agent, const Subscription& subscription, std::string id);
  ~Announcement() override;

  /// `predecessor`: had the id before, and may still be about to leave; it goes first. May be null.
  void begin(std::shared_ptr<Announcement> predecessor);
  void update(Instance instance);
  void withdraw();

  const Instance& instance() const noexcept { return instance_; }
  const ServiceName& service() const noexcept { return service_; }
  bool withdrawn() const noexcept { return withdrawn_; }
  /// It does nothing any more.
  bool ended() const noexcept { return ended_; }
  /// The last wish is fulfilled, or never will be (refusal()).
  bool done() const noexcept { return refusal_ || fulfilled_ == wished_; }
  /// What the agent said that another attempt will not change; none: it did not.
  const Error& refusal() const noexcept { return refusal_; }
  /// Why it is not done.
  Error trouble() const;
  const std::shared_ptr<Agent>& agent() const noexcept { return agent_; }
  /// Rings when done() may have changed.
  Bell& bell() noexcept { return bell_; }
  const std::string& who() const noexcept { return who_; }

 private:
  enum class There : std::uint8_t {
    nothing,
    ours,
    older,     ///< ours, not as it should be
    before,    ///< of this instance, by another process or an announcement before this one
    somebody,  ///< of another instance
  };
  static Task<void> run(std::shared_ptr<Announcement> self, std::shared_ptr<Announcement> predecessor);
  Task<Result<void>> put_up();
  Task<Result<void>> take_off();
  Task<Result<There>> look();
  Task<Result<void>> put(std::string what, std::string target, std::string body = {});
  Task<void> leave_word();
  Task<void> forget_operator();
  bool knows() const noexcept { return registered_in_ == agent_->generation(); }
  void settle(const Result<void>& result, std::uint64_t wish, bool withdrawn);
  void renew();
  void hear();
  void on_change() override;
  void on_stop(std::vector<Standing>& left) override;

  const std::shared_ptr<Agent> agent_;
  const std::string who_;
  const std::string id_;
  const std::string owner_;
  const bool provides_;
  ServiceName service_;
  Instance instance_;
  Registration registration_;
  std::optional<GroupWords::Listener> words_;
  std::optional<Word> operator_;  // adopted
  std::uint64_t number_ = 0;      // of the provider's own words
  bool withdrawn_ = false;
  bool ended_ = false;
  bool held_ = false;  // it has stood once
  bool may_stand_ = false;
  bool yields_ = false;              // another process has the place
  std::uint64_t wished_ = 1;         // counts wishes
  std::uint64_t fulfilled_ = 0;      // the last one the agent knows
  std::uint64_t registered_in_ = 0;  // the agent's generation
  TimePoint next_beat_{};
  Error refusal_;
  Error trouble_;
  Bell bell_;
  Bell alarm_;  // for its own loop
};

/// Waits for the last wish to be fulfilled. Fails with: unavailable (not by `deadline`; without an agent at most a
/// second is waited), or what the agent refuses.
Task<Result<void>> finish(std::shared_ptr<Announcement> announcement, TimePoint deadline);

}  // namespace tenon::consul
