#pragma once
#include <cstdint>

#include "tenon/cluster.hpp"

namespace tenon::cluster {

class ParallelAttempts;

/// May what failed with `error` be sent again: it has not run, or that it may have is harmless, and nobody advises
/// against it.
bool may_resend(const Request& request, const Error& error) noexcept;

/// The attempts of one call after the first: decides about each, and what its caller is told at last. The rules of
/// every strategy that makes more than one attempt.
/// Ownership: request and candidates are borrowed.
class AttemptAccount {
 public:
  /// The first attempt is made. `retries`: how many may follow failed ones; the method's own number wins.
  AttemptAccount(Request& request, Candidates& candidates, std::uint32_t retries) noexcept;
  AttemptAccount(const AttemptAccount&) = delete;
  AttemptAccount& operator=(const AttemptAccount&) = delete;

  /// An attempt failed. True: another may be made. False: `error` is what the caller is told now: the attempt's own
  /// when that is final (a handler's answer, an advice against more, the deadline …), else summary().
  bool again(Error& error);
  /// Where to send it again, paid from the budget; null: nowhere, summary() ends the call.
  Endpoint* next() noexcept;
  /// Where to send it while `others` are under way: to somebody who has not been asked, paid from the budget; null:
  /// nowhere. Does not count as a retry.
  Endpoint* beside(const ParallelAttempts& others) noexcept;
  /// The first error, with the number of attempts and the worst delivery of all: what any of them may have done counts.
  Error summary() const;
  Delivery worst() const noexcept { return worst_; }
  /// How many were made.
  std::uint32_t made() const noexcept { return made_; }

 private:
  /// The next candidate; `known`: it was chosen for this call before, or is not kept account of.
  Endpoint* candidate(bool& known) noexcept;
  bool pay() noexcept;
  bool out_of_time() const noexcept;

  Request& request_;
  Candidates& candidates_;
  std::uint32_t left_;
  std::uint32_t made_ = 1;
  std::uint32_t failed_ = 0;
  Error first_;
  Delivery worst_ = Delivery::not_run;
  Advice advice_ = Advice::none;  // of the last that failed
  bool broke_ = false;
};

}  // namespace tenon::cluster
