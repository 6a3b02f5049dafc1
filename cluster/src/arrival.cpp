#include "arrival.hpp"

namespace tenon::cluster {

bool Arrivals::Wait::await_suspend(std::coroutine_handle<> caller) noexcept {
  caller_ = caller;
  late_.wait = stop_.wait = this;
  stop_.fire = [](CancelHook* hook) noexcept {
    Wait* wait = static_cast<Stop*>(hook)->wait;
    wait->unlink();
    wait->caller_.resume();
  };
  if (cancel_ && !cancel_->add(stop_)) return false;
  late_.fire = [](Alarm* alarm) {
    Wait* wait = static_cast<Late*>(alarm)->wait;
    wait->unlink();
    wait->caller_.resume();
  };
  if (deadline_ != never) clock_.arm(late_, deadline_);
  next_ = arrivals_.first_;
  if (next_) next_->previous_ = this;
  arrivals_.first_ = this;
  return true;
}

void Arrivals::Wait::unlink() noexcept {
  clock_.cancel(late_);
  Cancellation::remove(stop_);
  (previous_ ? previous_->next_ : arrivals_.first_) = next_;
  if (next_) next_->previous_ = previous_;
}

void Arrivals::fire() noexcept {
  while (first_) {
    Wait* wait = first_;
    wait->unlink();
    wait->caller_.resume();
  }
}

}  // namespace tenon::cluster
