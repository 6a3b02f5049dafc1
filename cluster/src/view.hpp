#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "retry_budget.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// What every view and every call of one reference shares.
/// Threads: the reference's executor.
struct Common {
  Common(ClusterParts p, std::uint32_t retry_percent, std::uint32_t retries_per_second)
      : parts(std::move(p)), budget(retry_percent, retries_per_second, parts.executor->clock().now()) {}
  ClusterParts parts;
  RetryBudget budget;
  Error registry_error;   ///< the last one, none after a good snapshot
  Error refused;          ///< why the last instance that could not be dialled was refused
  std::size_t refusals = 0;  ///< instances of the current set that could not be dialled
};

/// One immutable set of members with the pickers over it. A call keeps the view it began with, so that pickers,
/// positions and endpoints stay valid while it runs.
/// Threads: the reference's executor; counted without atomics.
class View {
 public:
  /// `table`: null when there is no router.
  View(std::shared_ptr<Common> common, std::shared_ptr<const Members> members, std::unique_ptr<Router::Table> table);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  Common& common() noexcept { return *common_; }
  const std::shared_ptr<const Members>& members() const noexcept { return members_; }
  std::span<const Members> subsets() const noexcept { return subsets_; }
  /// Index of the subset that may serve the request, or -1.
  int choose(const Request& request) const noexcept { return table_ ? table_->choose(request) : 0; }
  Picker& picker(int subset) noexcept { return *pickers_[static_cast<std::size_t>(subset)]; }
  /// The member with this id or address; null when there is none.
  Endpoint* find(std::string_view instance) const noexcept;

 private:
  friend class ViewHold;
  struct Gone : Work {
    View* view = nullptr;
  };
  ~View() = default;
  void drop() noexcept;

  std::shared_ptr<Common> common_;
  std::shared_ptr<const Members> members_;
  std::unique_ptr<Router::Table> table_;
  std::span<const Members> subsets_;
  std::vector<std::unique_ptr<Picker>> pickers_;
  std::uint32_t holds_ = 0;
  Gone gone_;
};

/// Keeps a view alive. The last one to let go destroys it on a later turn: it may be an endpoint's own call that ends.
class ViewHold {
 public:
  ViewHold() noexcept = default;
  explicit ViewHold(View& view) noexcept : view_(&view) { ++view.holds_; }
  ViewHold(ViewHold&& other) noexcept : view_(std::exchange(other.view_, nullptr)) {}
  ViewHold& operator=(ViewHold&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ~ViewHold() {
    if (view_ && --view_->holds_ == 0) view_->drop();
  }
  explicit operator bool() const noexcept { return view_ != nullptr; }
  View& operator*() const noexcept { return *view_; }
  View* operator->() const noexcept { return view_; }

 private:
  View* view_ = nullptr;
};

}  // namespace tenon::cluster
