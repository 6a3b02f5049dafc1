#include "server/served_stream.hpp"

#include <exception>
#include <utility>

#include "server/server_call.hpp"

namespace tenon {

ServedStream::ServedStream(ServerCall& call, std::unique_ptr<Messages> messages, Loop& home, Loop* away)
    : call_(call), home_(home), away_(away), messages_(std::move(messages)), result_(std::optional<StreamMessage>()) {
  move_.stream = this;
}

void ServedStream::pump() {
  if (pumping_ || asking_) return;
  pumping_ = true;
  while (cancelled_ || call_.may_send()) {
    asking_ = true;
    if (away_) {
      move_.run = [](Work* work) noexcept { static_cast<Post*>(work)->stream->ask(); };
      away_->post(move_);
      break;
    }
    ask();
    if (asking_) break;
    if (over()) return finish();
    deliver();
  }
  pumping_ = false;
}

// What deliver() brings about must not end this before it returns.
void ServedStream::go_on() {
  if (over()) return finish();
  pumping_ = true;
  deliver();
  pumping_ = false;
  pump();
}

void ServedStream::ask() {
  task_ = messages_->next();
  auto done = [](void* self) {
    auto* stream = static_cast<ServedStream*>(self);
    const bool away = stream->away_ != nullptr;
    stream->arrived();  // away: home may have ended it by now
    if (!away && !stream->pumping_) stream->go_on();
  };
  if (task_.start(done, this)) arrived();
}

void ServedStream::arrived() noexcept {
  try {
    result_ = task_.take();
  } catch (const std::exception& e) {
    result_ = Error(Errc::internal, call_.describe() + " failed: " + e.what(), Delivery::ran);
  } catch (...) {
    result_ = Error(Errc::internal, call_.describe() + " failed", Delivery::ran);
  }
  task_ = {};
  if (over()) {
    if (result_.ok()) trailers_ = std::move(messages_->trailers());
    messages_.reset();
    if (away_) call_.leave_pool();
  }
  if (!away_) {
    asking_ = false;
    return;
  }
  move_.run = [](Work* work) noexcept {
    ServedStream* stream = static_cast<Post*>(work)->stream;
    stream->asking_ = false;
    stream->go_on();
  };
  home_.post(move_);
}

bool ServedStream::over() const noexcept { return !result_.ok() || !result_->has_value(); }

void ServedStream::deliver() {
  StreamMessage message = std::move(**result_);
  if (cancelled_) return;
  if (Result<void> sent = call_.send_message(message); !sent.ok()) cancel(std::move(sent).error());
}

void ServedStream::cancel(Error reason) {
  if (std::exchange(cancelled_, true)) return;
  reason_ = std::move(reason);
  const bool idle = !asking_;
  call_.tell_handler();  // what it waits for may end at once, and all of this with it
  if (idle) pump();
}

void ServedStream::finish() {
  if (reason_) return call_.end_stream(std::move(reason_), Headers());
  if (!result_.ok()) return call_.end_stream(std::move(result_).error(), Headers());
  call_.end_stream(Error(), std::move(trailers_));
}

}  // namespace tenon
