#include "lanes.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::wire {
namespace {

// The bytes of body and attachment from `at` on that lie in one piece, at most `most`.
std::string_view slice(const WaitingFrame& frame, std::size_t at, std::size_t most) noexcept {
  const std::string_view body = frame.body.bytes();
  return at < body.size() ? body.substr(at, most) : frame.attachment.bytes().substr(at - body.size(), most);
}

char* put_part_head(char* start, std::uint8_t flags, std::uint32_t call, std::size_t rest) noexcept {
  start = put_varint(start, 1 + varint_size(call) + rest);
  *start++ = static_cast<char>(static_cast<std::uint8_t>(Kind::fragment) | flags);
  return put_varint(start, call);
}

}  // namespace

void Lanes::add(std::uint32_t call, WaitingFrame frame) {
  const std::size_t bytes = frame.left();
  if (Entry* const entry = index_.find(call)) {
    entry->lane->frames.push_back(std::move(frame));
  } else {
    index_.reserve_one();
    std::list<Lane> fresh(1);
    fresh.front().call = call;
    fresh.front().frames.push_back(std::move(frame));
    index_.insert(call).lane = fresh.begin();
    later_.splice(later_.end(), fresh);
  }
  waiting_ += bytes;
}

void Lanes::begin(std::uint32_t call, SessionOutput& output) {
  const auto lane = index_.find(call)->lane;
  WaitingFrame& frame = lane->frames.front();
  waiting_ -= append_first(*lane, output);
  frame.begun = true;
  frame.sent = std::min(first_part, frame.tail());
  lane->begun = true;
  begun_bytes_ += frame.tail();
  begun_.splice(begun_.end(), later_, lane);
}

void Lanes::begin_later(std::size_t max_frame) noexcept {
  while (!later_.empty() && fits(later_.front().frames.front().tail(), max_frame)) {
    later_.front().begun = true;
    begun_bytes_ += later_.front().frames.front().tail();
    begun_.splice(begun_.end(), later_, later_.begin());
  }
}

Lanes::Step Lanes::step(SessionOutput& output, std::size_t max_frame) {
  Step step;
  begin_later(max_frame);
  if (begun_.empty()) {
    step.done = true;
    return step;
  }
  const auto lane = begun_.begin();
  WaitingFrame& frame = lane->frames.front();
  step.call = lane->call;
  if (!frame.in_parts()) {
    char* const start = output.prepare(max_varint + frame.head.size());
    char* const at = put_varint(start, frame.head.size());
    std::memcpy(at, frame.head.data(), frame.head.size());
    output.commit(static_cast<std::size_t>(at - start) + frame.head.size());
    waiting_ -= frame.head.size();
    frame.begun = true;
  } else if (!frame.begun) {
    waiting_ -= append_first(*lane, output);
    frame.sent = std::min(first_part, frame.tail());
    frame.begun = true;
    step.began = true;
  } else {
    const std::size_t n = append_next(*lane, output);
    frame.sent += n;
    waiting_ -= n;
  }
  if (frame.sent < frame.tail()) {
    begun_.splice(begun_.end(), begun_, lane);  // the next one's turn
    return step;
  }
  step.last = frame.last;
  begun_bytes_ -= frame.tail();
  lane->frames.pop_front();
  if (lane->frames.empty()) {
    step.idle = true;
    index_.erase(index_.find(lane->call));
    begun_.erase(lane);
  } else {
    // What follows is a frame like any other that has not begun.
    lane->begun = false;
    later_.splice(lane->frames.front().in_parts() ? later_.end() : later_.begin(), begun_, lane);
  }
  return step;
}

std::size_t Lanes::append_first(const Lane& lane, SessionOutput& output) {
  const WaitingFrame& frame = lane.frames.front();
  const std::size_t size = frame.head.size() + frame.tail();
  const std::size_t n = std::min(first_part, frame.tail());
  char* const start = output.prepare(3 * max_varint + 1 + frame.head.size() + n);
  char* at = put_part_head(start, flag_first, lane.call, varint_size(size) + frame.head.size() + n);
  at = put_varint(at, size);
  std::memcpy(at, frame.head.data(), frame.head.size());
  at += frame.head.size();
  for (std::size_t copied = 0; copied < n;) {
    const std::string_view piece = slice(frame, copied, n - copied);
    std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
    copied += piece.size();
  }
  output.commit(static_cast<std::size_t>(at - start));
  return frame.head.size() + n;
}

std::size_t Lanes::append_next(const Lane& lane, SessionOutput& output) {
  const WaitingFrame& frame = lane.frames.front();
  const std::string_view piece = slice(frame, frame.sent, later_part);
  char* const start = output.prepare(2 * max_varint + 1);
  output.reserve_block();
  char* const at = put_part_head(start, 0, lane.call, piece.size());
  output.commit(static_cast<std::size_t>(at - start));
  output.append_shared(frame.sent < frame.body.size() ? frame.body : frame.attachment, piece);
  return piece.size();
}

bool Lanes::drop(std::uint32_t call) noexcept {
  Entry* const entry = index_.find(call);
  if (entry == nullptr) return false;
  const auto lane = entry->lane;
  const WaitingFrame& front = lane->frames.front();
  const bool partly = front.in_parts() && front.begun;
  if (lane->begun) begun_bytes_ -= front.tail();
  for (const WaitingFrame& frame : lane->frames) waiting_ -= frame.left();
  index_.erase(entry);
  (lane->begun ? begun_ : later_).erase(lane);
  return partly;
}

void Lanes::clear() noexcept {
  for (const std::list<Lane>* lanes : {&begun_, &later_})
    for (const Lane& lane : *lanes) index_.erase(index_.find(lane.call));
  begun_.clear();
  later_.clear();
  begun_bytes_ = 0;
  waiting_ = 0;
}

}  // namespace tenon::wire
