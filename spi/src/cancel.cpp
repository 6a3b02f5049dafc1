#include "tenon/cancel.hpp"

namespace tenon {

Cancellation::~Cancellation() {
  while (head_.next != &head_) remove(*head_.next);
}

void Cancellation::cancel() noexcept {
  if (cancelled_) return;
  cancelled_ = true;
  if (head_.next == &head_) return;
  // A hook may end the call, and this object with it: from here on only the list apart is touched.
  CancelHook due{head_.prev, head_.next, nullptr};
  due.prev->next = due.next->prev = &due;
  head_.prev = head_.next = &head_;
  while (due.next != &due) {
    CancelHook* hook = due.next;
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
