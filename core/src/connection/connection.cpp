#include "connection/connection.hpp"

#include <algorithm>
#include <cstring>

namespace tenon {

namespace {
// Inside a batch output is flushed early once, so that both sides work at once, and then rarely: every send may wake
// the peer, which costs more than writing.
constexpr std::size_t first_flush = 8u << 10;
constexpr std::size_t later_flush = 32u << 10;
constexpr std::size_t write_budget = 64u << 10;   // bytes per gathered write
// After so much the socket is asked whether it has sent most of it: what the system holds cannot be overtaken by a
// small answer.
constexpr std::size_t turn_budget = 64u << 10;
constexpr std::size_t tight_room = 64u << 10;    // of one connection, when all together hold too much
constexpr std::size_t counted_step = 16u << 10;  // a shared counter is not touched for less
constexpr std::size_t direct_budget = 4u << 20;  // bytes of one large body per event, for fairness

std::string io_text(int error) { return error ? std::strerror(error) : "connection failed"; }
}  // namespace

Connection::Connection(Loop& loop, Log& log, std::unique_ptr<ByteStream> stream, std::unique_ptr<Session> session,
                       std::string protocol, const ConnectionOptions& options, ConnectionOwner& owner)
    : loop_(loop),
      log_(log),
      stream_(std::move(stream)),
      session_(std::move(session)),
      peer_(stream_->info()),
      options_(options),
      owner_(owner) {
  peer_.protocol = std::move(protocol);
  TurnEnd::run = [](TurnEnd* end) noexcept {
    auto* self = static_cast<Connection*>(end);
    const auto keep = self->shared_from_this();
    self->flush();
  };
  heartbeat_.connection = session_alarm_.connection = this;
  heartbeat_.fire = [](Alarm* alarm) {
    const auto keep = static_cast<OwnAlarm*>(alarm)->connection->shared_from_this();
    keep->beat();
  };
  session_alarm_.fire = [](Alarm* alarm) {
    const auto keep = static_cast<OwnAlarm*>(alarm)->connection->shared_from_this();
    if (auto ticked = keep->session_->tick(keep->loop_.clock().now()); !ticked.ok())
      keep->violated(std::move(ticked).error());
    else
      keep->after_session();
  };
}

Connection::~Connection() {
  if (counted_) options_.total->fetch_sub(counted_, std::memory_order_relaxed);
  loop_.cancel_turn_end(*this);
  loop_.clock().cancel(heartbeat_);
  loop_.clock().cancel(session_alarm_);
}

void Connection::start(std::string_view first) {
  const auto keep = shared_from_this();
  heard_ = loop_.clock().now();
  if (auto ticked = session_->tick(heard_); !ticked.ok()) return violated(std::move(ticked).error());
  watch_deadline();
  if (options_.heartbeat > Duration{0}) loop_.clock().arm(heartbeat_, heard_ + options_.heartbeat);
  mark_dirty();
  if (!first.empty() && !parse(first)) return;
  await_readable();
}

void Connection::after_session() {
  if (session_->unwritten() > 0 && !waiting_write_) mark_dirty();
  watch_deadline();
}

void Connection::watch_deadline() {
  const TimePoint at = session_->next_deadline();
  if (at != never) loop_.clock().arm(session_alarm_, at);
}

void Connection::await_readable() {
  if (closed_ || waiting_read_ || held_) return;
  if (options_.pause_reading && session_->unwritten() > room()) return;  // flush() resumes
  waiting_read_ = true;
  stream_->wait_readable({[](void* self) noexcept { static_cast<Connection*>(self)->on_readable(); }, this});
}

void Connection::on_readable() {
  const auto keep = shared_from_this();
  waiting_read_ = false;
  loop_.refresh();
  heard_ = loop_.clock().now();
  missed_ = 0;
  reading_ = true;
  flush_at_ = first_flush;
  const Want want = session_->want();
  if (want.into) {
    read_direct(want);
  } else {
    char* buffer = loop_.read_buffer();
    const std::size_t kept = stash_.size();
    if (kept) std::memcpy(buffer, stash_.data(), kept);
    const IoResult read = stream_->try_read(buffer + kept, Loop::read_buffer_size - kept);
    switch (read.status) {
      case IoResult::Status::done:
        spoken_to_ = true;
        parse({buffer, kept + read.bytes});
        break;
      case IoResult::Status::would_block: break;
      case IoResult::Status::end: fail(Error(Errc::unavailable, "closed by the peer" + first_words())); break;
      case IoResult::Status::failed: fail(Error(Errc::unavailable, io_text(read.error) + first_words())); break;
    }
  }
  reading_ = false;
  if (closed_) return;
  if (loop_.only_turn_end(*this)) {
    loop_.cancel_turn_end(*this);
    flush();
    if (closed_) return;
  }
  await_readable();
}

void Connection::read_direct(const Want& first) {
  Want want = first;
  for (std::size_t total = 0; want.into && total < direct_budget && !closed_; want = session_->want()) {
    const IoResult read = stream_->try_read(want.into, want.size);
    if (read.status == IoResult::Status::would_block) break;
    if (read.status == IoResult::Status::end) return fail(Error(Errc::unavailable, "closed by the peer"));
    if (read.status == IoResult::Status::failed) return fail(Error(Errc::unavailable, io_text(read.error)));
    total += read.bytes;
    if (auto taken = session_->received_direct(read.bytes, *this); !taken.ok())
      return violated(std::move(taken).error());
  }
  if (!closed_) after_session();
}

bool Connection::parse(std::string_view bytes) {
  std::size_t at = 0;
  held_ = false;
  while (at < bytes.size()) {
    enough_ = false;
    auto consumed = session_->received(bytes.substr(at), *this);
    if (closed_) return false;
    if (!consumed.ok()) {
      violated(std::move(consumed).error());
      return false;
    }
    at += *consumed;
    if (!enough_ || at == bytes.size()) break;
    flush();
    if (closed_) return false;
    held_ = session_->unwritten() > room();
    if (held_) break;
  }
  after_session();
  const std::string_view rest = bytes.substr(at);
  if (rest.size() >= Loop::read_buffer_size && !held_) {
    fail(Error(Errc::internal, "protocol " + peer_.protocol + " does not consume what it was given"));
    return false;
  }
  if (!rest.empty())
    stash_.assign(rest);
  else if (!stash_.empty())
    std::string().swap(stash_);  // idle connections keep no buffer
  return true;
}

void Connection::on_frame(Frame& frame) {
  if (closed_) return;
  switch (frame.kind) {
    case FrameKind::ping:
      frame.kind = FrameKind::pong;
      if (auto sent = session_->send(frame); sent.ok()) mark_dirty();
      return;
    case FrameKind::pong: return;  // heard_ is news enough
    default: break;
  }
  owner_.on_frame(frame);
  if (closed_) return;
  const std::size_t unwritten = session_->unwritten();
  // A read buffer full of small requests for large answers is not answered as a whole.
  if (options_.pause_reading && unwritten > tight_room && unwritten > room()) enough_ = true;
  if (waiting_write_ || unwritten < flush_at_) return;
  flush();
  flush_at_ = later_flush;
}

Result<void> Connection::send(Frame& frame) {
  if (closed_) return Error(Errc::unavailable, "connection to " + peer_.peer + " is closed", Delivery::not_run);
  Result<void> sent = session_->send(frame);
  if (sent.ok()) mark_dirty();
  return sent;
}

std::size_t Connection::room() const noexcept {
  if (!options_.total || options_.total->load(std::memory_order_relaxed) <= options_.max_total)
    return options_.max_unwritten;
  return std::min(options_.max_unwritten, tight_room);
}

void Connection::count_unwritten() noexcept {
  const std::size_t now = session_->unwritten();
  if (now > counted_ ? now - counted_ < counted_step : counted_ - now < counted_step && now != 0) return;
  if (now == counted_) return;
  options_.total->fetch_add(now - counted_, std::memory_order_relaxed);  // modulo 2^64
  counted_ = now;
}

void Connection::flush() {
  loop_.cancel_turn_end(*this);
  if (closed_ || waiting_write_) return;
  std::size_t written = 0;
  while (session_->unwritten() > 0) {
    Gather gather;
    session_->produce(gather, write_budget);
    if (gather.bytes() == 0) break;
    const IoResult wrote = stream_->try_write(gather.parts());
    if (wrote.status == IoResult::Status::failed) return fail(Error(Errc::unavailable, io_text(wrote.error)));
    if (wrote.status == IoResult::Status::done) {
      session_->written(wrote.bytes);
      written += wrote.bytes;
    }
    const bool all = wrote.status == IoResult::Status::done && wrote.bytes == gather.bytes();
    if (crowded_ && session_->unwritten() <= room() / 2) {
      crowded_ = false;
      owner_.on_room();
      if (closed_) return;
    }
    if (!all || (written >= turn_budget && session_->unwritten() > 0)) {
      wait_writable();
      break;
    }
  }
  if (options_.total) count_unwritten();
  if (closing_ && !waiting_write_) return close(std::move(closing_reason_));
  if (reading_ || (waiting_write_ && session_->unwritten() > room() / 2)) return;
  if (held_)  // it was paused
    go_on_parsing();
  else
    await_readable();
}

// In a turn of its own: who flushes may be in the middle of something.
void Connection::go_on_parsing() {
  if (resume_.connection) return;
  resume_.connection = shared_from_this();
  resume_.run = [](Work* work) noexcept {
    const auto self = std::move(static_cast<Resume*>(work)->connection);
    if (self->closed_ || !self->held_) return;
    self->reading_ = true;
    self->flush_at_ = first_flush;
    const std::string rest = std::exchange(self->stash_, {});
    const bool open = self->parse(rest);
    self->reading_ = false;
    if (!open) return;
    self->flush();
    if (!self->closed_) self->await_readable();
  };
  loop_.post(resume_);
}

void Connection::wait_writable() {
  waiting_write_ = true;
  auto resume = [](void* self) noexcept {
    const auto keep = static_cast<Connection*>(self)->shared_from_this();
    keep->waiting_write_ = false;
    keep->loop_.refresh();
    keep->flush();
  };
  stream_->wait_writable({resume, this});
}

void Connection::beat() {
  const TimePoint now = loop_.clock().now();
  if (now - heard_ >= options_.heartbeat) {
    if (missed_ >= options_.heartbeat_misses)
      return fail(Error(Errc::unavailable, "no sign of life for " + std::to_string(missed_) + " heartbeats"));
    Frame ping;
    ping.kind = FrameKind::ping;
    // A protocol in which this side cannot ask leaves dead peers to the transport.
    if (auto sent = session_->send(ping); sent.ok()) {
      ++missed_;
      mark_dirty();
    }
    loop_.clock().arm(heartbeat_, now + options_.heartbeat);
  } else {
    loop_.clock().arm(heartbeat_, heard_ + options_.heartbeat);
  }
}

std::string Connection::first_words() const {
  return spoken_to_ ? "" : " before it said anything; does it speak protocol " + peer_.protocol + "?";
}

void Connection::go_away(const Error& reason) {
  if (closed_) return;
  session_->close(reason);
  mark_dirty();
}

void Connection::close_when_written(Error reason) {
  if (closed_ || closing_) return;
  closing_ = true;
  closing_reason_ = std::move(reason);
  mark_dirty();
}

void Connection::close(Error reason) {
  if (closed_) return;
  const auto keep = shared_from_this();
  session_->close(reason);
  write_farewell();
  stream_->finish();
  fail(std::move(reason));
}

void Connection::violated(Error error) {
  if (closed_) return;
  const std::string text = peer_.protocol + " connection of " + peer_.peer + " closed: " + error.text();
  if (error.code() == Errc::unavailable)
    log_.info("connection-over", text);  // idle for too long
  else
    log_.warn("malformed-frame", text);
  session_->close(error);
  write_farewell();
  fail(std::move(error));
}

void Connection::write_farewell() {
  if (waiting_write_) return;
  Gather gather;
  session_->produce(gather, write_budget);
  if (gather.bytes()) (void)stream_->try_write(gather.parts());  // the peer learns the reason if there is room
}

void Connection::fail(Error error) {
  if (closed_) return;
  const auto keep = shared_from_this();
  closed_ = true;
  loop_.cancel_turn_end(*this);
  loop_.clock().cancel(heartbeat_);
  loop_.clock().cancel(session_alarm_);
  stream_.reset();
  owner_.on_closed(error);
}

}  // namespace tenon
