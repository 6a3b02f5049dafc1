#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "standing.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// One immutable set of members with everything derived from it. It goes when a newer one is in place and no broadcast
/// holds it any more.
/// Threads: one executor's (counted without atomics).
class Generation {
 public:
  struct Subset {
    const Members* members;
    std::unique_ptr<Picker> picker;
  };
  /// `table` was compiled over *members; null: no router.
  Generation(std::shared_ptr<Standing> standing, std::shared_ptr<const Members> members,
             std::unique_ptr<Router::Table> table);
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  Standing& standing() const noexcept { return *standing_; }
  /// Tells this set from those before and after; never 0.
  std::uint64_t number() const noexcept { return number_; }
  const std::shared_ptr<const Members>& members() const noexcept { return members_; }
  /// The subset for the next attempt of this call: the router's choice, kept for the call and noted in it, until each
  /// of its members has been tried; then the one the router names next. Null: the router lets nobody serve it.
  const Subset* choose(Request& request) const noexcept;
  /// The one chosen last for this call; null: none.
  const Subset* chosen(const Request& request) const noexcept;
  /// How many members a call that began with the subset of this one may reach; all of them when nothing was chosen yet.
  std::size_t reach(const Request& request) const noexcept;
  /// Of the best member that some call may reach.
  Health health() const noexcept;
  /// Makes the pickers anew, for other effective weights. Calls under way keep what they have tried.
  void reweigh();
  const Router::Table* table() const noexcept { return table_.get(); }
  /// By id or address; null: not among the members.
  Endpoint* find(std::string_view instance) const noexcept;

  void hold() noexcept { ++holders_; }
  /// The last one destroys it, on a later turn: what ends may be a call of one of its endpoints.
  void release() noexcept {
    if (--holders_ == 0) standing_->parts.executor->post(gone_);
  }

 private:
  struct Gone : Work {
    Generation* generation = nullptr;
  };
  ~Generation() = default;
  const std::shared_ptr<Standing> standing_;
  const std::uint64_t number_;
  const std::shared_ptr<const Members> members_;
  const std::unique_ptr<Router::Table> table_;
  std::vector<Subset> subsets_;
  std::unordered_map<std::string_view, Endpoint*> by_name_;
  std::uint32_t holders_ = 1;
  Gone gone_;
};

/// Keeps a generation for a scope.
class Hold {
 public:
  explicit Hold(Generation* generation) noexcept : generation_(generation) {
    if (generation_) generation_->hold();
  }
  Hold(Hold&& other) noexcept : generation_(std::exchange(other.generation_, nullptr)) {}
  Hold& operator=(Hold&&) = delete;
  ~Hold() {
    if (generation_) generation_->release();
  }
  Generation* get() const noexcept { return generation_; }
  Generation& operator*() const noexcept { return *generation_; }
  Generation* operator->() const noexcept { return generation_; }

 private:
  Generation* generation_;
};

}  // namespace tenon::cluster
