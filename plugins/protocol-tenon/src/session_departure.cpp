// How frames with bodies and attachments leave: copied, in blocks of their own, or in parts.
#include <cstring>
#include <new>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::wire {

Result<void> TenonSession::check_sizes(const Frame& frame, std::string_view what, std::size_t& list_bytes) const {
  const std::size_t size = frame.bytes().size() + frame.attachment.size();
  if (size > peer_max_frame_) {
    const std::string attached =
        frame.attachment.empty()
            ? " has a body of "
            : " has an attachment of " + std::to_string(frame.attachment.size()) + " bytes and with its body ";
    return refused(Errc::too_large, std::string(what) + attached + std::to_string(size) + " bytes; at most " +
                                        std::to_string(peer_max_frame_) +
                                        " may be sent (limits.max_frame of both sides)");
  }
  list_bytes = 0;
  if (frame.headers.empty()) return {};
  if (frame.headers.size() > peer_max_header_count_) {
    return refused(Errc::too_large, std::string(what) + " has " + std::to_string(frame.headers.size()) +
                                        " headers; at most " + std::to_string(peer_max_header_count_) +
                                        " may be sent (limits.max_header_count of both sides)");
  }
  list_bytes = list_size(frame.headers);
  if (list_bytes > peer_max_headers_) {
    return refused(Errc::too_large, std::string(what) + " has " + std::to_string(list_bytes) +
                                        " bytes of headers; at most " + std::to_string(peer_max_headers_) +
                                        " may be sent (limits.max_headers of both sides)");
  }
  return {};
}

// Before the peer's preface has come the benefit of the doubt is given: an older server answers a stream request with
// `unimplemented` and ends the connection at an attachment.
Result<void> TenonSession::check_extended(const Frame& frame) const {
  if (extended_ || mode_ == Mode::preface || (!frame.stream && frame.attachment.empty())) return {};
  return refused(Errc::unimplemented, method_text(frame.target) + ": the peer speaks no " +
                                          (frame.stream ? "streams" : "attachments") +
                                          "; it needs version 1.2 of the protocol");
}

TenonSession::Departure TenonSession::choose_way(const Frame& frame, const OpenCall* open) const noexcept {
  Departure departure;
  const std::size_t tail = frame.bytes().size() + frame.attachment.size();
  if (open != nullptr && open->is(CallState::queued)) {
    departure.way = Departure::Way::behind;
    departure.begins = false;
  } else if (tail >= parts_from && extended_ && !frame.one_way) {
    departure.way = Departure::Way::parts;
    departure.begins = lanes_.may_begin(tail, peer_max_frame_);
  }
  return departure;
}

void TenonSession::prepare(Departure& departure, Frame& frame, std::size_t head_bytes) {
  const std::size_t body = frame.bytes().size();
  const std::size_t attachment = frame.attachment.size();
  head_bytes += 1 + max_varint;
  if (departure.waits()) {
    const std::size_t copied = body + attachment < parts_from ? body + attachment : 0;
    departure.start = departure.head.prepare(head_bytes + copied);
    return;
  }
  // A frame has one block at most.
  const bool shared = attachment >= direct_size;
  const bool own_block = !shared && body >= direct_size;
  departure.start = output_.prepare(head_bytes + (own_block ? 0 : body) + (shared || own_block ? 0 : attachment));
  if (!shared && !own_block) return;
  output_.reserve_block();
  if (!own_block) return;
  if (frame.owned.empty()) {
    OutBuffer& block = departure.head;
    block.prepare(body + attachment);
    block.append(frame.body);
  } else if (attachment > 0) {
    frame.owned.prepare(attachment);
  }
}

// `start` has one byte for the length in front of the fields; makes room when it needs more.
char* TenonSession::finish_head(char* start, char* end, std::size_t body_size) noexcept {
  const auto head_size = static_cast<std::size_t>(end - start) - 1;
  const std::uint64_t length = head_size + body_size;
  const std::size_t prefix = varint_size(length);
  if (prefix > 1) std::memmove(start + prefix, start + 1, head_size);
  put_varint(start, length);
  return start + prefix + head_size;
}

void TenonSession::finish(Departure& departure, Frame& frame, char* end, bool last) {
  const std::string_view body = frame.bytes();
  const std::string_view attachment = frame.attachment.bytes();
  const auto copy = [&end](std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(end, bytes.data(), bytes.size());
    end += bytes.size();
  };
  if (departure.waits()) {
    WaitingFrame waiting;
    waiting.last = last;
    const bool small = body.size() + attachment.size() < parts_from;
    if (small) {
      copy(body);
      copy(attachment);
    }
    // The byte for the length is not used here.
    const auto head_size = static_cast<std::size_t>(end - departure.start) - 1;
    std::memmove(departure.start, departure.start + 1, head_size);
    departure.head.commit(head_size);
    waiting.head = std::move(departure.head);
    if (!small) {
      if (frame.owned.empty() && !body.empty()) {
        OutBuffer own;
        own.append(body);
        waiting.body = Attachment(std::move(own));
      } else if (!body.empty()) {
        waiting.body = Attachment(std::move(frame.owned));
      }
      waiting.attachment = frame.attachment;
    }
    lanes_.add(frame.call, std::move(waiting));
    if (!departure.begins) return;
    try {
      lanes_.begin(frame.call, output_);
    } catch (...) {
      lanes_.drop(frame.call);
      throw;
    }
    return;
  }
  end = finish_head(departure.start, end, body.size() + attachment.size());
  const bool shared = attachment.size() >= direct_size;
  const bool own_block = !shared && body.size() >= direct_size;
  if (!own_block) copy(body);
  if (!own_block && !shared) copy(attachment);
  output_.commit(static_cast<std::size_t>(end - departure.start));
  if (shared) output_.append_shared(frame.attachment, attachment);
  if (!own_block) return;
  OutBuffer block = frame.owned.empty() ? std::move(departure.head) : std::move(frame.owned);
  block.append(attachment);  // there is room
  output_.append_block(std::move(block));
}

void TenonSession::refill() {
  try {
    while (output_.unwritten() < refill_to && lanes_.waiting() > 0) {
      const Lanes::Step step = lanes_.step(output_, peer_max_frame_);
      if (step.done) break;
      OpenCall* const open = calls_.find(step.call);
      if (open == nullptr) continue;
      if (step.began && open->is(CallState::not_begun)) {
        open->clear(CallState::not_begun);
        open->sequence = static_cast<std::uint32_t>(++requests_);
      }
      if (step.idle) open->clear(CallState::queued);
      if (step.last) close_call(open);
    }
  } catch (const std::bad_alloc&) {
    // Nothing can be returned from here. What has not left is lost, and with it the connection.
    lanes_.clear();
    broken_ = true;
  }
}

void TenonSession::close_call(OpenCall* open) {
  const OpenCall closed = *open;
  calls_.erase(open);
  if (closed.state == 0) return;
  if (closed.is(CallState::asked_stream)) {
    if (StreamWindow* const window = streams_.find(closed.call)) streams_.erase(window);
  }
  if (closed.is(CallState::in_part)) drop_assembly(closed.call);
  if (closed.is(CallState::queued) && lanes_.drop(closed.call) && side_ == Side::client) append_cancel(closed.call);
}

}  // namespace tenon::wire
