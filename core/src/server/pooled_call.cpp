#include "server/pooled_call.hpp"

#include <chrono>
#include <utility>

namespace tenon {

PooledCall::PooledCall(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding)
    : ServerCall(connection, frame, route, encoding),
      pool_(*route.pool),
      entry_(route.offered->entry()),
      result_(Error(Errc::internal, "", Delivery::ran)) {
  ticket_.call = answer_.call = cancel_.call = this;
  ticket_.deadline = info_.deadline;
  ticket_.run = [](Pool::Job& job, bool expired) noexcept { static_cast<Ticket&>(job).call->execute(expired); };
  answer_.run = [](Work* work) noexcept { static_cast<Post*>(work)->call->answer(); };
  cancel_.run = [](Work* work) noexcept {
    PooledCall* call = static_cast<Post*>(work)->call;
    call->cancellation_.cancel();
    call->release();
  };
}

void PooledCall::run(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding) {
  auto* call = new PooledCall(connection, frame, route, encoding);
  // Its answer is a post to this thread, so it finds everything below done.
  if (!call->pool_.submit(call->ticket_)) {
    Error full(Errc::overloaded, call->describe() + ": " + call->pool_.full_text() + "; ask another instance",
               Delivery::not_run, Advice::other_instance);
    connection.refuse(frame, std::move(full));
    call->release();
    return;
  }
  if (call->one_way_)
    call->become_notice(connection.connection_);
  else
    connection.calls_.add(*call);
  connection.settings_.in_flight.fetch_add(1, std::memory_order_relaxed);
}

void PooledCall::execute(bool expired) noexcept {
  if (expired) {
    const auto waited =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - info_.started);
    result_ = Error(Errc::deadline_exceeded,
                    describe() + ": the deadline passed while the request waited in pool \"" + pool_.name() + "\" (" +
                        std::to_string(waited.count()) + " ms)",
                    Delivery::not_run, Advice::never);
    home_->post(answer_);
    return;
  }
  info_.executor = Executor::current();
  auto done = [](void* self) { static_cast<PooledCall*>(self)->ended(); };
  if (start(entry_, done, this)) ended();
}

void PooledCall::ended() noexcept {
  result_ = take_result();
  if (!result_.ok() || !result_->messages) pool_.ended(ticket_);
  home_->post(answer_);
}

void PooledCall::give_up() noexcept {
  if (Loop* runs_on = pool_.withdraw(ticket_)) {
    if (std::exchange(cancel_posted_, true)) return;
    holders_.fetch_add(1, std::memory_order_relaxed);
    runs_on->post(cancel_);
    return;
  }
  result_ = Error(Errc::cancelled, describe() + ": given up while it waited in pool \"" + pool_.name() + '"',
                  Delivery::not_run, Advice::never);
  answer();
}

void PooledCall::answer() noexcept {
  if (result_.ok() && result_->messages) return begin_stream(std::move(*result_), pool_.withdraw(ticket_));
  settings_.in_flight.fetch_sub(1, std::memory_order_relaxed);
  Result<Response> result = std::move(result_);
  notice_ended();
  if (connection_) connection_->reply(*this, std::move(result));
  stream_.reset();  // a connection ends on its own thread
  release();
}

void PooledCall::release() noexcept {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void PooledCall::stream_over() noexcept {
  stream_.reset();
  release();
}

}  // namespace tenon
