#include "ha/backup_request.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "ha/attempt_account.hpp"
#include "ha/latency_histogram.hpp"
#include "ha/parallel_attempts.hpp"
#include "ha/retry_budget.hpp"

namespace tenon::cluster {

/// What was seen of one reference's calls. Threads: its executor.
struct BackupRequest::Seen {
  Seen(std::uint32_t ratio, TimePoint now) noexcept : budget(ratio, 0, now) {}
  LatencyHistogram& of(const Target& target, std::uint32_t percentile, TimePoint now) {
    return latencies.try_emplace(&target, percentile, now).first->second;
  }
  RetryBudget budget;
  std::unordered_map<const Target*, LatencyHistogram> latencies;  // nodes stay where they are
};

Result<std::unique_ptr<BackupRequest>> BackupRequest::create(Options options, Environment environment) {
  const auto refuse = [](const char* what) {
    return Error(Errc::config, std::string("backup-request: ") + what, Delivery::not_run);
  };
  if (options.percentile < 1 || options.percentile > 99) return refuse("percentile must be from 1 to 99");
  if (options.ratio > 100) return refuse("ratio is a percentage, at most 100");
  if (options.after < Duration{0} || options.least < Duration{0}) return refuse("a time must not be negative");
  auto failover = Failover::create(FailoverOptions{options.retries}, environment);
  if (!failover.ok()) return std::move(failover).error();
  return std::unique_ptr<BackupRequest>(new BackupRequest(options, std::move(*failover)));
}

BackupRequest::BackupRequest(const Options& options, std::unique_ptr<Failover> failover)
    : options_(options), failover_(std::move(failover)) {}

Task<Result<Response>> BackupRequest::call(Request& request, Candidates& candidates) {
  const Target& target = *request.target;
  Executor* executor = Executor::current();
  if (!target.idempotent || target.method->shape != Shape::unary || !executor)
    return failover_->call(request, candidates);
  Endpoint* first = candidates.next(request);
  if (!first) return ready<Result<Response>>(candidates.none_left(request));
  Clock& clock = executor->clock();
  auto seen = seen_.of(candidates, [&] { return std::make_shared<Seen>(options_.ratio, clock.now()); });
  return hedge(std::move(seen), request, candidates, *first, clock);
}

/// One call: its attempts, and what is learnt from them.
class BackupRequest::Hedged {
 public:
  Hedged(BackupRequest& strategy, Seen& seen, Request& request, Candidates& candidates, Clock& clock)
      : strategy_(strategy),
        seen_(seen),
        latency_(seen.of(*request.target, strategy.options_.percentile, clock.now())),
        clock_(clock),
        account_(request, candidates, strategy.options_.retries),
        attempts_(request, clock) {
    seen.budget.deposit(clock.now());
  }

  ParallelAttempts& attempts() noexcept { return attempts_; }
  /// When the backup is due; never: it is not known what is slow.
  TimePoint backup_at() const noexcept {
    const Options& options = strategy_.options_;
    if (options.after > Duration{0}) return clock_.now() + options.after;
    const std::optional<Duration> usual = latency_.percentile();
    return usual ? clock_.now() + std::max(*usual, options.least) : never;
  }
  void send_backup() {
    Endpoint* other = seen_.budget.spend(clock_.now()) ? account_.beside(attempts_) : nullptr;
    if (!other) {
      strategy_.refused_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    strategy_.backups_.fetch_add(1, std::memory_order_relaxed);
    backup_ = other;
    attempts_.start(*other, account_.made() - 1);
  }
  /// True: `attempt` has decided the call: outcome().
  bool decides(ParallelAttempts::Attempt& attempt);
  Result<Response>& outcome() noexcept { return outcome_; }

 private:
  BackupRequest& strategy_;
  Seen& seen_;
  LatencyHistogram& latency_;
  Clock& clock_;
  AttemptAccount account_;
  ParallelAttempts attempts_;
  const Endpoint* backup_ = nullptr;
  Error final_;  // no more attempts after this one
  Result<Response> outcome_;
};

bool BackupRequest::Hedged::decides(ParallelAttempts::Attempt& attempt) {
  const TimePoint now = clock_.now();
  if (attempt.result.ok()) {
    latency_.record(attempt.took, now);
    // Whoever was overtaken is slow, too, or what is usual would be learnt from the fast ones alone.
    attempts_.each_age([&](Duration age) { latency_.record(age, now); });
    if (&attempt.endpoint == backup_) strategy_.won_.fetch_add(1, std::memory_order_relaxed);
    outcome_ = std::move(attempt.result);
    return true;
  }
  Error& error = attempt.result.error();
  const Errc code = error.code();
  if (code == Errc::deadline_exceeded) latency_.record(attempt.took, now);
  const bool again = account_.again(error);
  if (code != Errc::application && attempts_.pending() > 0) {
    if (!again && !final_) final_ = std::move(error);
    return false;
  }
  if (again && !final_) {
    if (Endpoint* endpoint = account_.next()) {
      attempts_.start(*endpoint, account_.made() - 1);
      return false;
    }
    outcome_ = account_.summary();
    return true;
  }
  Error& told = code == Errc::application || !final_ ? error : final_;
  told.deliver(account_.worst());
  outcome_ = std::move(told);
  return true;
}

Task<Result<Response>> BackupRequest::hedge(std::shared_ptr<Seen> seen, Request& request, Candidates& candidates,
                                            Endpoint& first, Clock& clock) {
  Hedged hedged(*this, *seen, request, candidates, clock);
  ParallelAttempts& attempts = hedged.attempts();
  TimePoint backup_at = hedged.backup_at();
  if (backup_at >= request.deadline) backup_at = never;
  attempts.start(first, 0);
  while (true) {
    auto news = attempts.next(backup_at);
    const auto ended = co_await news;
    if (ended) {
      if (hedged.decides(*ended)) break;
    } else {
      backup_at = never;
      hedged.send_backup();
    }
  }
  attempts.cancel();
  while (attempts.under_way() > 0) {
    auto rest = attempts.next();
    (void)co_await rest;
  }
  co_return std::move(hedged.outcome());
}

void BackupRequest::release(Candidates& candidates) noexcept { (void)seen_.take(candidates); }

std::vector<Count> BackupRequest::counts() const {
  return {{"backups", backups_.load(std::memory_order_relaxed)},
          {"backups that won", won_.load(std::memory_order_relaxed)},
          {"backups refused", refused_.load(std::memory_order_relaxed)}};
}

}  // namespace tenon::cluster
