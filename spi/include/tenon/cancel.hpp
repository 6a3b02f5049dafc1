#pragma once
#include "tenon/export.hpp"

namespace tenon {

/// Something to do when a call is given up, embedded in whoever waits.
struct CancelHook {
  CancelHook* prev = nullptr;
  CancelHook* next = nullptr;
  void (*fire)(CancelHook*) noexcept = nullptr;  ///< unlinked before it runs; may destroy the hook
};

/// Tells the parts of one call that its caller gave up. Lives as long as the call.
/// Threads: the executor the call runs on; from elsewhere, post.
class TENON_SPI Cancellation {
 public:
  Cancellation() noexcept = default;
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;
  ~Cancellation();

  bool cancelled() const noexcept { return cancelled_; }
  /// Fires every hook, once. Later calls do nothing.
  void cancel() noexcept;
  /// Links `hook` (fire set). If the call is cancelled already, the hook is not linked and false is returned.
  bool add(CancelHook& hook) noexcept;
  /// Unlinks; harmless when it is not linked.
  static void remove(CancelHook& hook) noexcept;

 private:
  CancelHook head_{&head_, &head_, nullptr};
  bool cancelled_ = false;
};

}  // namespace tenon
