#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// What a strategy keeps for each reference it serves: a strategy that the manifest names may serve several, whose
/// calls run on different threads.
/// Threads: any; what is kept belongs to its reference's executor. Cost: an uncontended mutex.
template <class T>
class ByReference {
 public:
  /// The one of these candidates' reference; made by `make()`, a shared_ptr<T>, when it is not there yet.
  template <class F>
  std::shared_ptr<T> of(const Candidates& candidates, F make) {
    const std::lock_guard lock(mutex_);
    for (const auto& [whose, kept] : all_)
      if (whose == &candidates) return kept;
    return all_.emplace_back(&candidates, make()).second;
  }
  /// Lets go of it; null: there was none.
  std::shared_ptr<T> take(const Candidates& candidates) noexcept {
    const std::lock_guard lock(mutex_);
    for (auto& entry : all_) {
      if (entry.first != &candidates) continue;
      std::shared_ptr<T> taken = std::move(entry.second);
      entry = std::move(all_.back());
      all_.pop_back();
      return taken;
    }
    return nullptr;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<const Candidates*, std::shared_ptr<T>>> all_;
};

}  // namespace tenon::cluster
