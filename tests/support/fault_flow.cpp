#include "support/fault_flow.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace tenon::test {

namespace {
constexpr std::size_t read_size = 64u << 10;
constexpr int sends_per_step = 512;
}  // namespace

FaultFlow::FaultFlow(int from, int to, const Faults& faults, std::uint64_t seed, FaultProxy::Traffic& counter,
                     std::mutex& counting)
    : from_(from), to_(to), faults_(faults), random_(seed), counter_(counter), counting_(counting) {}

// A slow link holds what it carries in 5 ms; a late one what may be under way.
std::size_t FaultFlow::most_held() const noexcept {
  if (faults_.bytes_per_second == 0) return 1u << 20;
  return std::clamp<std::size_t>(faults_.bytes_per_second / 200, 1, 1u << 20);
}

bool FaultFlow::wants_input() const noexcept {
  return !source_ended_ && !faults_.stall && (dropping_ || faults_.discard || held_bytes_ < most_held());
}

FaultFlow::Time::time_point FaultFlow::due() const noexcept {
  if (finished_ || faults_.stall) return Time::time_point::max();
  if (sent_ >= faults_.cut_at) return Time::time_point::min();
  if (held_.empty())  // a black hole swallows the end, too
    return source_ended_ && !faults_.discard ? Time::time_point::min() : Time::time_point::max();
  Time::time_point at = std::max(held_.front().due, next_send_);
  if (faults_.gather.count() > 0 && !source_ended_ && held_bytes_ < most_held() / 2)
    at = std::max(at, last_read_ + faults_.gather);
  return at;
}

FaultFlow::Fate FaultFlow::read() {
  char buffer[read_size];
  const ssize_t got = ::recv(from_, buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Fate::goes_on;
  if (got <= 0) {
    source_ended_ = true;
    source_failed_ = got < 0;
    return Fate::goes_on;
  }
  if (!dropping_ && !faults_.discard) take({buffer, static_cast<std::size_t>(got)});
  return Fate::goes_on;
}

void FaultFlow::take(std::string_view bytes) {
  last_read_ = Time::now();
  std::string changed(bytes);
  const std::uint64_t first = received_;
  received_ += bytes.size();
  if (faults_.corrupt_at >= first && faults_.corrupt_at < received_)
    changed[faults_.corrupt_at - first] = static_cast<char>(changed[faults_.corrupt_at - first] ^ faults_.corrupt_bits);
  if (faults_.repeat_size == 0 || faults_.repeat_at == Faults::nowhere) return hold(changed);
  // The copy follows the last byte that is repeated.
  const std::uint64_t end = faults_.repeat_at + faults_.repeat_size;
  const std::uint64_t from = std::clamp(faults_.repeat_at, first, received_) - first;
  const std::uint64_t to = std::clamp(end, first, received_) - first;
  repeated_ += changed.substr(from, to - from);
  hold(std::string_view(changed).substr(0, to));
  if (end > first && end <= received_) hold(repeated_);
  hold(std::string_view(changed).substr(to));
}

void FaultFlow::hold(std::string_view bytes) {
  if (bytes.empty()) return;
  Chunk chunk;
  chunk.bytes = bytes;
  auto late = faults_.delay;
  if (faults_.jitter.count() > 0)
    late += std::chrono::microseconds(random_() % (static_cast<std::uint64_t>(faults_.jitter.count()) + 1));
  chunk.due = last_due_ = std::max(last_due_, Time::now() + late);
  held_bytes_ += bytes.size();
  held_.push_back(std::move(chunk));
}

std::size_t FaultFlow::next_size() {
  std::size_t size = held_.front().bytes.size() - held_.front().sent;
  if (faults_.slices.most > 0) {
    const auto least = static_cast<double>(std::max<std::size_t>(faults_.slices.least, 1));
    const double spread = std::log(static_cast<double>(faults_.slices.most) + 0.999) - std::log(least);
    const double part = static_cast<double>(random_() >> 11) / 9007199254740992.0;
    size = std::min(size, static_cast<std::size_t>(least * std::exp(spread * part)));
  }
  if (faults_.bytes_per_second > 0) size = std::min(size, most_held());
  return static_cast<std::size_t>(std::min<std::uint64_t>(std::max<std::size_t>(size, 1), faults_.cut_at - sent_));
}

FaultFlow::Fate FaultFlow::at_cut() const noexcept {
  switch (faults_.cut) {
    case Cut::half: return Fate::cut_half;
    case Cut::reset: return Fate::cut_reset;
    default: return Fate::cut_close;
  }
}

FaultFlow::Fate FaultFlow::write() {
  for (int turn = 0; turn < sends_per_step; ++turn) {
    const auto now = Time::now();
    if (due() > now) return Fate::goes_on;
    if (sent_ >= faults_.cut_at) return at_cut();
    if (held_.empty()) {  // the source has ended
      if (source_failed_) return Fate::cut_reset;
      finish_now();
      return Fate::goes_on;
    }
    Chunk& chunk = held_.front();
    std::size_t put = 0;
    {
      const std::lock_guard lock(counting_);
      const ssize_t sent = ::send(to_, chunk.bytes.data() + chunk.sent, next_size(), MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN || errno == EINTR ? Fate::goes_on : Fate::cut_reset;
      put = static_cast<std::size_t>(sent);
      counter_.bytes += put;
      ++counter_.sends;
    }
    chunk.sent += put;
    sent_ += put;
    held_bytes_ -= put;
    if (chunk.sent == chunk.bytes.size()) held_.pop_front();
    if (faults_.bytes_per_second > 0)  // a thread that woke late makes up for it
      next_send_ = std::max(next_send_, now - std::chrono::milliseconds(5)) +
                   std::chrono::nanoseconds(put * 1'000'000'000 / faults_.bytes_per_second);
    if (faults_.pause.count() > 0 && sent_ < faults_.paused_bytes) next_send_ = now + faults_.pause;
  }
  return Fate::goes_on;
}

void FaultFlow::drop() {
  held_.clear();
  held_bytes_ = 0;
  dropping_ = true;
  faults_ = {};
}

void FaultFlow::finish_now() noexcept {
  if (finished_) return;
  finished_ = true;
  (void)::shutdown(to_, SHUT_WR);
}

}  // namespace tenon::test
