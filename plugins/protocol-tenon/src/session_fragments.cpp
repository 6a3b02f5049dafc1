// Frames that come in parts.
#include <algorithm>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::wire {

TenonSession::Assembly* TenonSession::find_assembly(std::uint32_t call) noexcept {
  for (Assembly& assembly : assemblies_)
    if (assembly.call == call) return &assembly;
  return nullptr;
}

void TenonSession::drop_assembly(std::uint32_t call) noexcept {
  Assembly* const assembly = find_assembly(call);
  if (assembly == nullptr) return;
  if (assembly->incoming) assembling_ -= assembly->announced;
  std::swap(*assembly, assemblies_.back());
  assemblies_.pop_back();
}

Result<std::size_t> TenonSession::take_fragment(const Place& place, std::uint8_t flags, FrameSink& sink) {
  Cursor cursor(place.fields + 1, place.here - 1, place.length - 1);
  std::uint64_t call = 0;
  if (const Scan scan = cursor.varint(call); scan == Scan::more)
    return std::size_t{0};
  else if (scan == Scan::bad || call > 0xFFFFFFFFu)
    return fatal(Errc::malformed, "a fragment frame without a call number");
  const auto number = static_cast<std::uint32_t>(call);
  if (!extended_) return take_refused_fragment(place, flags, number);
  if ((flags & flag_first) != 0) return take_first_part(place, number, cursor);
  return take_later_part(place, number, 1 + cursor.at(), sink);
}

// From a peer of an older minor version: what that version answers.
Result<std::size_t> TenonSession::take_refused_fragment(const Place& place, std::uint8_t flags, std::uint32_t call) {
  if (side_ == Side::client || (flags & flag_first) == 0) {
    return fatal(Errc::malformed, "a fragment frame although fragments were not negotiated");
  }
  if (calls_.find(call) != nullptr) {
    return fatal(Errc::malformed, "a fragment frame for call " + std::to_string(call) + ", which is open already");
  }
  if (!closing_) {
    answer(call, Error(Errc::unimplemented, "fragments need version 1.2 of the protocol on both sides",
                       Delivery::not_run, Advice::never));
  }
  return skip(place);
}

Result<std::size_t> TenonSession::take_first_part(const Place& place, std::uint32_t call, Cursor& cursor) {
  if (!place.complete() && place.length <= direct_size) return std::size_t{0};
  std::uint64_t size = 0;  // of the frame inside, from its type byte on
  Scan scan = cursor.varint(size);
  std::uint8_t type = 0;
  const std::size_t inner_at = 1 + cursor.at();
  if (scan == Scan::ok) scan = cursor.byte(type);
  if (scan == Scan::more) return begin_gather(place);
  const std::size_t first = place.length - inner_at;  // bytes of the frame inside that this part has
  const auto kind = static_cast<Kind>(type & kind_mask);
  const auto flags = static_cast<std::uint8_t>(type & ~kind_mask);
  if (scan == Scan::bad || size <= first || size > max_length || !may_come_in_parts(kind, flags, side_)) {
    return fatal(Errc::malformed, "the first part of a frame for call " + std::to_string(call) + " of " +
                                      std::to_string(place.length) + " bytes is not valid");
  }
  Cursor inner(place.fields + inner_at + 1, place.here - inner_at - 1, first - 1);
  Head head(kind, flags);
  scan = read_head(inner, limits_, head);
  if (scan == Scan::more) return begin_gather(place);
  if (scan == Scan::bad || head.call != call) {
    return fatal(Errc::malformed, "the fields of a frame for call " + std::to_string(call) + " whose first part has " +
                                      std::to_string(place.length) + " bytes are not valid");
  }
  ++head.body_at;  // the cursor began behind the type byte
  const auto tail = static_cast<std::size_t>(size) - head.body_at;
  if (head.headers.oversize == 0 && head.attachment > tail) return too_long_attachment(head, tail);
  if (find_assembly(call) != nullptr) {
    return fatal(Errc::malformed,
                 "a second first part for call " + std::to_string(call) + " before the last of the other one");
  }
  const bool oversize = head.headers.oversize != 0 || tail > limits_.max_frame;
  if (assemblies_.size() >= max_in_parts ||
      (!oversize && assembling_ + tail > max_in_parts_bodies * limits_.max_frame)) {
    return fatal(Errc::malformed, "more frames in parts at once than a peer may send (" + std::to_string(max_in_parts) +
                                      ", together " + std::to_string(max_in_parts_bodies) + " times limits.max_frame)");
  }

  assemblies_.reserve(assemblies_.size() + 1);
  const bool response = head.kind == Kind::response;
  Assembly assembly{call, response && !head.has(flag_stream), response && head.has(flag_stream), 0, tail, nullptr};
  if (oversize) {
    Frame frame;
    Result<bool> told = admit_oversize(head, tail, true, frame);
    if (!told.ok()) return std::move(told).error();
  } else {
    auto incoming = std::make_unique<Incoming>();
    Result<bool> wanted = keep_incoming(head, {place.fields + inner_at, head.body_at}, tail, true, *incoming);
    if (!wanted.ok()) return std::move(wanted).error();
    if (*wanted) assembly.incoming = std::move(incoming);
  }
  if (!assembly.incoming) {
    assembly.left = static_cast<std::size_t>(size) - first;
    assemblies_.push_back(std::move(assembly));
    return skip(place);
  }
  const std::size_t here = place.here - inner_at;
  assembly.incoming->body.append({place.fields + inner_at + head.body_at, here - head.body_at});
  assembly.left = static_cast<std::size_t>(size) - here;
  assembling_ += tail;
  assemblies_.push_back(std::move(assembly));
  part_call_ = call;
  part_left_ = first - here;
  if (part_left_ > 0) mode_ = Mode::part;
  return place.prefix + place.here;
}

Result<std::size_t> TenonSession::take_later_part(const Place& place, std::uint32_t call, std::size_t head,
                                                  FrameSink& sink) {
  const std::size_t size = place.length - head;
  Assembly* const assembly = find_assembly(call);
  if (assembly == nullptr || size == 0 || size > assembly->left) {
    return fatal(Errc::malformed, "a part of a frame for call " + std::to_string(call) +
                                      (assembly == nullptr ? ", of which no first part has come"
                                                           : " of " + std::to_string(size) + " bytes where " +
                                                                 std::to_string(assembly->left) + " are missing"));
  }
  const std::size_t taken = place.prefix + place.here;
  part_call_ = call;
  if (!assembly->incoming) {
    part_left_ = 0;
    assembly->left -= size;
    skip(place);
    finish_part(sink);
    return taken;
  }
  const std::size_t here = place.here - head;
  assembly->incoming->body.append({place.fields + head, here});
  assembly->left -= here;
  part_left_ = size - here;
  if (part_left_ > 0)
    mode_ = Mode::part;
  else
    finish_part(sink);
  return taken;
}

Result<std::size_t> TenonSession::take_part(std::string_view bytes, FrameSink& sink) {
  const std::size_t n = std::min(part_left_, bytes.size());
  Assembly& assembly = *find_assembly(part_call_);
  assembly.incoming->body.append(bytes.substr(0, n));
  assembly.left -= n;
  part_left_ -= n;
  finish_part(sink);
  return n;
}

void TenonSession::finish_part(FrameSink& sink) {
  if (part_left_ > 0) return;
  if (mode_ == Mode::part) mode_ = Mode::frames;
  const std::uint32_t call = part_call_;
  Assembly* const complete = find_assembly(call);
  if (complete->left > 0) return;
  const Assembly done = std::move(*complete);
  if (done.incoming) assembling_ -= done.announced;
  std::swap(*complete, assemblies_.back());
  assemblies_.pop_back();
  if (!done.incoming && side_ == Side::server) return;  // answered when it began
  OpenCall* const open = calls_.find(call);
  open->clear(CallState::in_part);
  if (done.opens_stream && done.incoming) open->set(CallState::has_head);
  if (done.ends_call) close_call(open);
  if (done.incoming) {
    deliver(*done.incoming, sink);
  } else if (done.ends_call) {
    Frame frame;
    frame.kind = FrameKind::error;
    frame.call = call;
    frame.error = spoiled_error(call);
    sink.on_frame(frame);
  }
}

// Calls that were cancelled before anything of them had left: nobody else will answer.
void TenonSession::deliver_unsent_cancels(FrameSink& sink) {
  const std::vector<std::uint32_t> calls = std::exchange(unsent_cancels_, {});
  for (const std::uint32_t call : calls) {
    OpenCall* const open = calls_.find(call);
    if (open == nullptr || !open->is(CallState::not_begun) || open->is(CallState::queued)) continue;
    close_call(open);
    Frame frame;
    frame.kind = FrameKind::error;
    frame.call = call;
    frame.error = Error(Errc::cancelled, "given up before it was sent", Delivery::not_run);
    sink.on_frame(frame);
  }
}

}  // namespace tenon::wire
