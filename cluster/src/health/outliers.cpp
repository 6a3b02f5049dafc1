#include "health/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace tenon::cluster {

namespace {

/// How often those who are passed over are looked at: whether they are connected, and enough others are.
constexpr Duration look_again = std::chrono::seconds(1);
/// After an ejection was refused.
constexpr Duration not_so_soon = std::chrono::milliseconds(100);

std::string seconds(Duration duration) {
  const double value = std::chrono::duration<double>(duration).count();
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", value);
  return text;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

}  // namespace

/// A member for one call that decides about it.
class Outliers::Probe final : public Endpoint {
 public:
  Probe(std::weak_ptr<Outliers> outliers, std::shared_ptr<Endpoint> member, std::shared_ptr<Condition> condition)
      : outliers_(std::move(outliers)), member_(std::move(member)), condition_(std::move(condition)) {}
  Task<Result<Response>> call(Request& request) override {
    if (condition_->probing_) return member_->call(request);
    condition_->probing_ = true;
    if (const auto outliers = outliers_.lock()) outliers->recount();
    return decide(outliers_, member_, condition_, request);
  }
  Health health() const noexcept override { return member_->health(); }
  const Instance& instance() const noexcept override { return member_->instance(); }
  const Stats& stats() const noexcept override { return member_->stats(); }

 private:
  static Task<Result<Response>> decide(std::weak_ptr<Outliers> link, std::shared_ptr<Endpoint> member,
                                       std::shared_ptr<Condition> condition, Request& request) {
    const std::uint64_t faults = member->stats().faults;
    Result<Response> result = co_await member->call(request);
    condition->probing_ = false;
    if (const auto outliers = link.lock()) outliers->probed(condition, result, member->stats().faults != faults);
    co_return std::move(result);
  }
  const std::weak_ptr<Outliers> outliers_;
  const std::shared_ptr<Endpoint> member_;
  const std::shared_ptr<Condition> condition_;
};

std::shared_ptr<Outliers> Outliers::make(const OutlierOptions& options, const Growth& growth, std::string who,
                                         Clock& clock, Log& log, std::function<void()> reweighed) {
  return std::shared_ptr<Outliers>(
      new Outliers(options, growth, std::move(who), clock, log, std::move(reweighed)));
}

Outliers::Outliers(const OutlierOptions& options, const Growth& growth, std::string who, Clock& clock, Log& log,
                   std::function<void()> reweighed)
    : options_(options),
      growth_(growth),
      who_(std::move(who)),
      clock_(clock),
      log_(log),
      reweighed_(std::move(reweighed)),
      next_rates_(clock.now() + options.interval) {
  wake_.outliers = this;
  wake_.fire = [](Alarm* alarm) { static_cast<Wake*>(alarm)->outliers->wake(); };
}

Outliers::~Outliers() { clock_.cancel(wake_); }

void Outliers::stop() noexcept {
  clock_.cancel(wake_);
  all_.clear();  // so that nobody is watched, and no alarm is set, by calls that end later
  reweighed_ = [] {};
}

void Outliers::watch(const std::vector<Watched>& all) {
  std::set<const Condition*> before;
  for (const Entry& entry : all_) before.insert(entry.condition.get());
  all_.clear();
  for (const Watched& watched : all) {
    all_.push_back({watched.endpoint, watched.condition});
    if (!before.empty() && !before.contains(watched.condition.get()))
      start_growing(*watched.condition, growth_.warm_up);
  }
  recount();
  arm();
}

Outliers::Entry* Outliers::find(const Stats& stats) noexcept {
  for (Entry& entry : all_)
    if (&entry.endpoint->stats() == &stats) return &entry;
  return nullptr;
}

std::size_t Outliers::ejected() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [](const Entry& entry) { return entry.condition->ejected_; }));
}

bool Outliers::eject_for_faults(const Endpoint& endpoint) noexcept {
  const TimePoint now = clock_.now();
  if (now < not_before_ || endpoint.ejected_until() != TimePoint()) return false;
  Entry* entry = find(endpoint.stats());
  if (entry && !entry->condition->ejected_ &&
      eject(*entry, std::to_string(endpoint.stats().consecutive_faults) + " faults in a row"))
    return true;
  not_before_ = now + not_so_soon;
  return false;
}

bool Outliers::eject(Entry& entry, const std::string& why) {
  const bool others = std::any_of(all_.begin(), all_.end(), [&](const Entry& other) {
    return &other != &entry && !other.condition->ejected_ && other.endpoint->health() != Health::closed;
  });
  const std::size_t most = std::max<std::size_t>(all_.size() * options_.max_percent / 100, 1);
  if (!others || ejected() >= most) return false;
  Condition& condition = *entry.condition;
  // One that went well for longer than it had been out starts over.
  if (condition.times_ > 0 && clock_.now() - condition.recovered_ > 2 * condition.length_) condition.times_ = 0;
  Duration length = options_.ejection;
  for (std::uint32_t i = 0; i < condition.times_ && length < options_.max_ejection; ++i) length *= 2;
  keep_out(condition, std::min<Duration>(length, options_.max_ejection));
  ++condition.times_;
  ++ejections_;
  log_.warn("outlier", who_ + "instance " + entry.endpoint->instance().address + " gets no calls for " +
                           seconds(condition.length_) + ": " + why);
  recount();
  arm();
  return true;
}

void Outliers::keep_out(Condition& condition, Duration length) noexcept {
  condition.ejected_ = true;
  condition.length_ = length;
  condition.until_ = clock_.now() + length;
}

std::pair<Endpoint*, std::size_t> Outliers::probe(const Members& members) noexcept {
  const TimePoint now = clock_.now();
  for (std::size_t position = 0; position < members.size(); ++position) {
    const auto& member = members[position];
    const TimePoint until = member->ejected_until();
    if (until == TimePoint() || until > now || member->effective_weight() == 0) continue;
    const Entry* entry = find(member->stats());
    if (!entry || entry->condition->probing_ || entry->endpoint->health() == Health::closed) continue;
    probe_ = std::make_unique<Probe>(weak_from_this(), member, entry->condition);
    return {probe_.get(), position};
  }
  return {nullptr, 0};
}

void Outliers::probed(const std::shared_ptr<Condition>& condition, const Result<Response>& result, bool fault) {
  const auto entry = std::find_if(all_.begin(), all_.end(), [&](const Entry& e) { return e.condition == condition; });
  if (entry == all_.end()) return;
  if (result.ok() || result.error().delivery() == Delivery::ran) {
    if (!fault) return recover(*entry);
  }
  if (fault) {
    keep_out(*condition, std::min<Duration>(2 * condition->length_, options_.max_ejection));
    ++condition->times_;
    log_.warn("outlier", who_ + "instance " + entry->endpoint->instance().address +
                             " was tried and gets no calls for " + seconds(condition->length_) + ": " +
                             (result.ok() ? std::string("a fault") : result.error().text()));
  } else if (result.error().code() != Errc::cancelled) {
    condition->until_ = clock_.now() + look_again;  // it refused, or was not reached: that says nothing
  }
  recount();
  arm();
}

void Outliers::recover(const Entry& entry) {
  Condition& condition = *entry.condition;
  condition.ejected_ = false;
  condition.until_ = {};
  condition.recovered_ = clock_.now();
  log_.info("outlier", who_ + "instance " + entry.endpoint->instance().address + " answers and gets calls again");
  start_growing(condition, growth_.slow_start);
  recount();
  arm();
  if (condition.growth_ > Duration{0}) reweighed_();
}

void Outliers::start_growing(Condition& condition, Duration growth) noexcept {
  if (growth <= Duration{0}) return;
  condition.part_ = 1;
  condition.growing_since_ = clock_.now();
  condition.growth_ = growth;
}

void Outliers::wake() {
  const TimePoint now = clock_.now();
  if (options_.interval.count() > 0 && now >= next_rates_) {
    compare_rates();
    next_rates_ = now + options_.interval;
  }
  const bool changed = grow();
  recount();
  arm();
  if (changed) reweighed_();
}

void Outliers::compare_rates() {
  struct Rate {
    std::size_t index;
    double share;
  };
  std::vector<Rate> rates;
  double sum = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Condition& condition = *all_[i].condition;
    const Stats& stats = all_[i].endpoint->stats();
    const std::uint64_t calls = stats.calls - condition.calls_seen_;
    const std::uint64_t faults = stats.faults - condition.faults_seen_;
    condition.calls_seen_ = stats.calls;
    condition.faults_seen_ = stats.faults;
    if (calls < std::max<std::uint64_t>(options_.min_calls, 1) || condition.ejected_) continue;
    rates.push_back({i, 1 - std::min(1.0, static_cast<double>(faults) / static_cast<double>(calls))});
    sum += rates.back().share;
  }
  if (rates.size() < std::max<std::size_t>(options_.min_instances, 2)) return;
  const double mean = sum / static_cast<double>(rates.size());
  double variance = 0;
  for (const Rate& rate : rates) variance += (rate.share - mean) * (rate.share - mean);
  variance /= static_cast<double>(rates.size());
  const double limit = mean - options_.deviations * std::sqrt(variance);
  std::sort(rates.begin(), rates.end(), [](const Rate& a, const Rate& b) { return a.share < b.share; });
  for (const Rate& rate : rates) {
    if (rate.share >= limit) break;
    eject(all_[rate.index], percent(rate.share) + " of its calls went well, " + percent(mean) + " on the average");
  }
}

bool Outliers::grow() {
  const TimePoint now = clock_.now();
  bool changed = false;
  for (const Entry& entry : all_) {
    Condition& condition = *entry.condition;
    if (condition.growth_ <= Duration{0}) continue;
    const auto steps = (now - condition.growing_since_) * Condition::full / condition.growth_;
    const auto part = static_cast<std::uint32_t>(std::clamp<std::int64_t>(1 + steps, 1, Condition::full));
    changed = changed || part != condition.part_;
    condition.part_ = part;
    if (part == Condition::full) condition.growth_ = Duration{0};
  }
  return changed;
}

void Outliers::recount() noexcept {
  const TimePoint now = clock_.now();
  std::size_t able = 0;
  due_ = 0;
  for (const Entry& entry : all_) {
    const bool open = entry.endpoint->health() != Health::closed;
    if (!entry.condition->ejected_)
      able += open ? 1 : 0;
    else if (open && entry.condition->until_ <= now && !entry.condition->probing_)
      ++due_;
  }
  panic_->on = able * 100 < all_.size() * options_.panic_percent;
}

void Outliers::arm() noexcept {
  const TimePoint now = clock_.now();
  TimePoint next = never;
  if (options_.interval.count() > 0 && all_.size() >= options_.min_instances) next = std::max(next_rates_, now);
  for (const Entry& entry : all_) {
    const Condition& condition = *entry.condition;
    if (condition.growth_ > Duration{0}) {
      const auto steps = (now - condition.growing_since_) * Condition::full / condition.growth_ + 1;
      next = std::min(next, condition.growing_since_ + condition.growth_ * steps / Condition::full);
    }
    if (condition.ejected_)
      next = std::min(next, condition.until_ > now ? std::min(condition.until_, now + look_again) : now + look_again);
  }
  clock_.cancel(wake_);
  if (next != never) clock_.arm(wake_, next);
}

}  // namespace tenon::cluster
