#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "health/condition.hpp"
#include "health/outlier_options.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// Finds the instances of a reference that answer worse than the others, keeps calls away from them for a while, and
/// lets exactly one call try each before it takes part again, with a growing weight.
///
/// The rules are those of Envoy's outlier detection: faults in a row, found when somebody is about to call the instance
/// once more (so that a call costs one comparison), and success rates far below the others', compared in intervals.
/// Threads: the reference's executor.
class Outliers : public std::enable_shared_from_this<Outliers> {
 public:
  struct Growth {
    Duration warm_up{0};     ///< of an instance that came later than the first ones
    Duration slow_start{0};  ///< of one that has recovered
  };
  /// `reweighed` is called when somebody's effective weight has changed.
  static std::shared_ptr<Outliers> make(const OutlierOptions& options, const Growth& growth, std::string who,
                                        Clock& clock, Log& log, std::function<void()> reweighed);
  Outliers(const Outliers&) = delete;
  Outliers& operator=(const Outliers&) = delete;
  ~Outliers();
  /// The reference ends: nothing happens by itself any more, and `reweighed` is not called again.
  void stop() noexcept;

  /// For an instance that is dialled now.
  std::shared_ptr<Condition> condition() const { return std::make_shared<Condition>(panic_); }

  struct Watched {
    std::shared_ptr<Endpoint> endpoint;  ///< as dialled: its connections' health, its figures
    std::shared_ptr<Condition> condition;
  };
  /// The instances there are from now on. New ones grow, unless they are the first.
  void watch(const std::vector<Watched>& all);

  /// True: `endpoint`, which a call is to be sent to, has just been found to be an outlier. Another one is better.
  bool suspect(const Endpoint& endpoint) noexcept {
    return options_.consecutive_faults != 0 && endpoint.stats().consecutive_faults >= options_.consecutive_faults &&
           eject_for_faults(endpoint);
  }
  /// Somebody waits to be tried by a call; perhaps among those whom it may go to.
  bool probe_due() const noexcept { return due_ > 0; }
  /// One of `members` that waits to be tried, as something to call once, at once, and its position among them; null:
  /// none of these. What comes of the call decides about him.
  std::pair<Endpoint*, std::size_t> probe(const Members& members) noexcept;

  std::uint64_t ejections() const noexcept { return ejections_; }

 private:
  class Probe;
  struct Entry {
    std::shared_ptr<Endpoint> endpoint;
    std::shared_ptr<Condition> condition;
  };
  struct Wake : Alarm {
    Outliers* outliers = nullptr;
  };
  Outliers(const OutlierOptions& options, const Growth& growth, std::string who, Clock& clock, Log& log,
           std::function<void()> reweighed);
  bool eject_for_faults(const Endpoint& endpoint) noexcept;
  bool eject(Entry& entry, const std::string& why);
  void keep_out(Condition& condition, Duration length) noexcept;
  void recover(const Entry& entry);
  void probed(const std::shared_ptr<Condition>& condition, const Result<Response>& result, bool fault);
  Entry* find(const Stats& stats) noexcept;
  std::size_t ejected() const noexcept;
  void start_growing(Condition& condition, Duration growth) noexcept;

  void wake();
  void compare_rates();
  bool grow();
  void recount() noexcept;
  void arm() noexcept;

  const OutlierOptions options_;
  const Growth growth_;
  const std::string who_;
  Clock& clock_;
  Log& log_;
  std::function<void()> reweighed_;
  const std::shared_ptr<Panic> panic_ = std::make_shared<Panic>();
  std::vector<Entry> all_;
  std::unique_ptr<Probe> probe_;  // the last one handed out
  std::size_t due_ = 0;
  TimePoint next_rates_;
  TimePoint not_before_{};  // nobody could be ejected; looking again too often would cost every call
  std::uint64_t ejections_ = 0;
  Wake wake_;
};

}  // namespace tenon::cluster
