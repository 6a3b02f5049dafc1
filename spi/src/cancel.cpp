#include "tenon/cancel.hpp"

namespace tenon {

Cancellation::~Cancellation() {
  while (head_.next != &head_) remove(*head_.next);
}

void Cancellation::cancel() noexcept {
  if (cancelled_) return;
  cancelled_ = true;
  while (head_.next != &head_) {
    CancelHook* hook = head_.next;
    remove(*hook);
    hook->fire(hook);
  }
}

bool Cancellation::add(CancelHook& hook) noexcept {
  if (cancelled_) return false;
  hook.prev = head_.prev;
  hook.next = &head_;
  head_.prev->next = &hook;
  head_.prev = &hook;
  return true;
}

void Cancellation::remove(CancelHook& hook) noexcept {
  if (!hook.next) return;
  hook.prev->next = hook.next;
  hook.next->prev = hook.prev;
  hook.prev = hook.next = nullptr;
}

}  // namespace tenon
