#include "reconciler.hpp"

#include <utility>

namespace tenon::zk {

namespace {
constexpr Duration first_pause = std::chrono::milliseconds(50);
constexpr Duration longest_pause = std::chrono::seconds(2);
constexpr Duration between_warnings = std::chrono::seconds(10);
}  // namespace

Reconciler::Reconciler(Session& session, std::vector<std::string> paths)
    : session_(&session), clock_(session.clock()), paths_(std::move(paths)), backoff_(first_pause, longest_pause) {
  retry_.reconciler = this;
  retry_.fire = [](Alarm* alarm) { static_cast<Retry*>(alarm)->reconciler->wake(); };
  session.attach(*this, paths_);
}

Reconciler::~Reconciler() {
  clock_.cancel(retry_);
  if (session_) session_->detach(*this, paths_);
}

void Reconciler::wake() {
  if (!session_) return;
  if (running_) {
    again_ = true;
    return;
  }
  if (!session_->ready()) return;  // on_ready() comes
  clock_.cancel(retry_);
  begin();
}

void Reconciler::wake_at(TimePoint at) {
  if (retry_.armed() && retry_.at <= at) return;
  clock_.cancel(retry_);
  clock_.arm(retry_, at);
}

void Reconciler::on_ready(bool new_session) {
  if (new_session) on_new_session();
  backoff_.reset();
  wake();
}

void Reconciler::orphan() noexcept {
  const std::shared_ptr<Reconciler> self = shared_from_this();
  session_ = nullptr;
  clock_.cancel(retry_);
  on_rest();
}

void Reconciler::begin() {
  running_ = true;
  again_ = false;
  running_self_ = shared_from_this();
  task_ = reconcile();
  if (task_.start([](void* self) { static_cast<Reconciler*>(self)->end(); }, this)) end();
}

void Reconciler::end() {
  const std::shared_ptr<Reconciler> self = std::move(running_self_);
  const bool settled = task_.take();
  running_ = false;
  if (session_) {
    if (settled) {
      backoff_.reset();
    } else {
      wake_at(clock_.now() + backoff_.next());
    }
    if (settled && again_) {
      // On a turn of its own: the stack does not grow with the changes.
      wake_at(clock_.now());
    }
  }
  on_rest();
}

void Reconciler::warn(const std::string& text) {
  if (!session_ || clock_.now() < next_warning_) return;
  next_warning_ = clock_.now() + between_warnings;
  session_->log().warn("zookeeper", session_->label() + ": " + text);
}

}  // namespace tenon::zk
