#include "handshake.hpp"

namespace tenon::tls {

Handshake::Handshake(Engine& engine, Clock& clock, TimePoint limit) : engine_(engine), clock_(clock), limit_(limit) {
  alarm_.handshake = this;
  alarm_.fire = [](Alarm* alarm) { static_cast<Limit*>(alarm)->handshake->finish(Outcome::late); };
}

bool Handshake::start(Completion done) {
  done_ = done;
  if (limit_ != never) clock_.arm(alarm_, limit_);
  advance();
  started_ = true;
  return outcome_ != Outcome::none;
}

void Handshake::advance() {
  const Engine::Step step = engine_.handshake();
  (void)engine_.flush();
  if (step == Engine::Step::failed) return finish(Outcome::failed);
  await_room();
  shaken_ = step == Engine::Step::done;
  // The last bytes must have left: nobody else waits for them yet.
  if (shaken_ && !writing_) return finish(Outcome::succeeded);
  if (!shaken_)
    engine_.socket().wait_readable({[](void* self) noexcept { static_cast<Handshake*>(self)->advance(); }, this});
}

void Handshake::await_room() {
  if (writing_ || engine_.flush()) return;
  writing_ = true;
  engine_.socket().wait_writable({[](void* self) noexcept { static_cast<Handshake*>(self)->on_writable(); }, this});
}

void Handshake::on_writable() {
  writing_ = false;
  await_room();
  if (shaken_ && !writing_) finish(Outcome::succeeded);
}

void Handshake::finish(Outcome outcome) {
  if (outcome_ != Outcome::none) return;
  clock_.cancel(alarm_);
  outcome_ = outcome;
  if (started_) done_.run(done_.self);
}

}  // namespace tenon::tls
