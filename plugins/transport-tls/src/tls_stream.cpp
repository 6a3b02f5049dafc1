#include "tls_stream.hpp"

#include <utility>

#include "last_words.hpp"

namespace tenon::tls {

namespace {
/// A connection that did nothing for as long gives its record buffers back (about 34 KiB).
constexpr Duration idle_time = std::chrono::seconds(1);
}  // namespace

/// "Look again" to oneself, when what can be read is in OpenSSL's buffers, not in the socket. Outlives the stream while
/// it is queued.
struct TlsStream::Nudge : Work {
  TlsStream* stream = nullptr;
  bool queued = false;
};

TlsStream::TlsStream(std::unique_ptr<Engine> engine, Executor& home)
    : engine_(std::move(engine)), home_(home), nudge_(new Nudge) {
  nudge_->stream = this;
  nudge_->run = [](Work* work) noexcept {
    auto* nudge = static_cast<Nudge*>(work);
    nudge->queued = false;
    if (nudge->stream)
      nudge->stream->on_input();
    else
      delete nudge;
  };
  idle_.stream = this;
  idle_.fire = [](Alarm* alarm) { static_cast<Idle*>(alarm)->stream->rest(); };
}

TlsStream::~TlsStream() {
  if (idle_.armed()) home_.clock().cancel(idle_);
  if (nudge_->queued)
    nudge_->stream = nullptr;
  else
    delete nudge_;
  engine_->close_notify();
  if (engine_->flush()) return;
  std::string unsent;
  auto socket = engine_->release(unsent);
  if (!unsent.empty()) LastWords::say(std::move(socket), std::move(unsent));
}

IoResult TlsStream::try_read(char* into, std::size_t size) noexcept {
  touch();
  const IoResult read = engine_->read(into, size);
  await_room();  // reading may answer (a key update)
  return read;
}

IoResult TlsStream::try_write(std::span<const std::string_view> parts) noexcept {
  touch();
  const IoResult wrote = engine_->write(parts);
  await_room();
  return wrote;
}

void TlsStream::wait_readable(Completion done) noexcept {
  reader_ = done;
  if (!engine_->pending()) return watch_input();
  if (std::exchange(nudge_->queued, true)) return;
  home_.post(*nudge_);
}

void TlsStream::watch_input() noexcept {
  if (std::exchange(reading_, true)) return;
  engine_->socket().wait_readable({[](void* self) noexcept {
                                     static_cast<TlsStream*>(self)->reading_ = false;
                                     static_cast<TlsStream*>(self)->on_input();
                                   },
                                   this});
}

void TlsStream::on_input() noexcept {
  if (!reader_.run) return;
  touch();
  // Part of a record, or a message of TLS itself, is nothing to read.
  const bool readable = engine_->readable();
  await_room();
  if (!readable) return watch_input();
  const Completion reader = std::exchange(reader_, {});
  reader.run(reader.self);
}

void TlsStream::wait_writable(Completion done) noexcept {
  writer_ = done;
  if (std::exchange(writing_, true)) return;
  engine_->socket().wait_writable({[](void* self) noexcept { static_cast<TlsStream*>(self)->on_room(); }, this});
}

void TlsStream::await_room() noexcept {
  if (!writing_ && !engine_->flush()) wait_writable(writer_);
}

void TlsStream::on_room() noexcept {
  writing_ = false;
  if (!engine_->flush()) return wait_writable(writer_);
  if (std::exchange(finishing_, false)) engine_->socket().finish();
  const Completion writer = std::exchange(writer_, {});
  if (writer.run) writer.run(writer.self);
}

void TlsStream::finish() noexcept {
  engine_->close_notify();
  finishing_ = !engine_->flush();
  if (finishing_)
    await_room();
  else
    engine_->socket().finish();
}

void TlsStream::touch() noexcept {
  used_ = true;
  if (!idle_.armed()) home_.clock().arm(idle_, home_.clock().now() + idle_time);
}

void TlsStream::rest() {
  if (std::exchange(used_, false))
    home_.clock().arm(idle_, home_.clock().now() + idle_time);
  else
    engine_->release_buffers();
}

}  // namespace tenon::tls
