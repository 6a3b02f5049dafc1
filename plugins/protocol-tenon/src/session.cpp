#include "session.hpp"

#include <algorithm>
#include <new>

#include "failure.hpp"

namespace tenon::wire {
namespace {

constexpr std::size_t max_head = 16u << 10;  // fields in front of the body besides headers: names and integers
constexpr std::size_t enough_to_wait = 512;  // an incomplete head this small stays in the caller's buffer
static_assert(max_head > 6 * (max_name + 2) + 8 * max_varint);

}  // namespace

TenonSession::TenonSession(Side side, const Limits& limits, std::span<const std::string> compressors)
    : limits_(limits),
      side_(side),
      max_concurrent_(limits.max_concurrent),
      peer_max_frame_(limits.max_frame),
      peer_max_headers_(limits.max_headers),
      peer_max_header_count_(limits.max_header_count),
      calls_(side == Side::client),
      streams_(side == Side::client),
      first_window_(std::min<std::int64_t>(limits.stream_window, max_initial_window)),
      lanes_(side == Side::client) {
  for (const std::string& name : compressors) {
    if (own_compressors_.size() + name.size() + 1 > max_compressors) break;
    if (!own_compressors_.empty()) own_compressors_ += ' ';
    own_compressors_ += name;
  }
  if (side_ == Side::client) greet();
}
TenonSession::~TenonSession() = default;

void TenonSession::greet() {
  if (greeted_) return;
  Preface own;
  own.max_frame = limits_.max_frame;
  own.max_headers = limits_.max_headers;
  own.max_header_count = limits_.max_header_count;
  own.max_concurrent = limits_.max_concurrent;
  own.compressors = std::move(own_compressors_);
  own.stream_window = static_cast<std::uint64_t>(std::min<std::int64_t>(limits_.stream_window, max_initial_window));
  put_preface(own, output_);
  greeted_ = true;
}

void TenonSession::close(const Error& reason) {
  if (closing_ || mode_ == Mode::failed) return;
  greet();
  OutBuffer frame;
  frame.push_back(static_cast<char>(Kind::goaway));
  char* const at = frame.prepare(max_varint);
  frame.commit(static_cast<std::size_t>(put_varint(at, side_ == Side::server ? requests_ : 0) - at));
  put_failure(reason, frame);
  append(frame);
  closing_ = true;
}

Error TenonSession::fatal(Errc code, std::string text) {
  Error error(code, "protocol tenon: " + std::move(text));
  if (peer_known_) close(error);
  mode_ = Mode::failed;
  incoming_.reset();
  assemblies_.clear();
  lanes_.clear();
  return error;
}

Result<std::size_t> TenonSession::take_preface(std::string_view bytes) {
  if (bytes.empty()) return std::size_t{0};
  Preface peer;
  std::size_t consumed = 0;
  bool version = false;
  const Scan scan = get_preface(bytes, peer, consumed, version);
  if (scan == Scan::more) return std::size_t{0};
  if (version) {
    peer_known_ = true;
    return fatal(Errc::malformed, "the peer speaks version " + std::to_string(peer.major) +
                                      " of the protocol, this side speaks " + std::to_string(major_version) + "." +
                                      std::to_string(minor_version) +
                                      "; let both sides run releases with the same major version");
  }
  if (scan == Scan::bad) {
    return fatal(Errc::malformed, "the connection does not start with a valid preface but with " +
                                      quoted(bytes.substr(0, 32)) + "; the peer seems to speak another protocol");
  }
  peer_known_ = true;
  max_concurrent_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(limits_.max_concurrent, peer.max_concurrent));
  peer_max_frame_ = static_cast<std::size_t>(std::min<std::uint64_t>(limits_.max_frame, peer.max_frame));
  peer_max_headers_ = static_cast<std::size_t>(std::min<std::uint64_t>(limits_.max_headers, peer.max_headers));
  peer_max_header_count_ =
      static_cast<std::size_t>(std::min<std::uint64_t>(limits_.max_header_count, peer.max_header_count));
  peer_compressors_ = std::move(peer.compressors);
  extended_ = (peer.features & own_features & feature_extended) != 0;
  if (side_ == Side::server) {
    first_window_ = static_cast<std::int64_t>(
        std::min<std::uint64_t>(peer.stream_window, static_cast<std::uint64_t>(max_initial_window)));
  }
  mode_ = Mode::frames;
  greet();
  return consumed;
}

bool TenonSession::accepts(std::string_view compressor) const noexcept {
  for (std::string_view rest = peer_compressors_; !rest.empty();) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, space) == compressor) return true;
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return false;
}

TimePoint TenonSession::next_deadline() const noexcept {
  if (broken_) return TimePoint{};
  if (mode_ != Mode::preface) return never;
  return armed_ ? deadline_ : TimePoint{};  // not armed: a time long past, so that tick() comes at once
}

Error TenonSession::lost_output() {
  broken_ = false;
  return fatal(Errc::overloaded, "out of memory while a large frame was on its way out");
}

Result<void> TenonSession::tick(TimePoint now) {
  if (broken_) return lost_output();
  if (mode_ != Mode::preface) return {};
  if (!armed_) {
    armed_ = true;
    deadline_ = now + handshake_limit;
    return {};
  }
  if (now < deadline_) return {};
  return fatal(Errc::deadline_exceeded, "the peer sent no complete preface within " +
                                            std::to_string(handshake_limit.count()) +
                                            " s; is a tenon server listening there?");
}

// ---- bytes in -----------------------------------------------------------------------------------------------------

Want TenonSession::want() noexcept {
  if (mode_ == Mode::body) return incoming_->body.want();
  if (mode_ != Mode::part || part_left_ < direct_part_from) return {};
  Want want = find_assembly(part_call_)->incoming->body.want();
  want.size = std::min(want.size, part_left_);
  return want;
}

Result<std::size_t> TenonSession::received(std::string_view bytes, FrameSink& sink) {
  std::size_t at = 0;
  try {
    if (broken_) return lost_output();
    if (!unsent_cancels_.empty()) deliver_unsent_cancels(sink);
    for (;;) {
      if (side_ == Side::client) at += take_plain_responses(bytes.substr(at), sink);
      Result<std::size_t> taken =
          mode_ == Mode::frames ? take_frame(bytes.substr(at), sink) : take(bytes.substr(at), sink);
      if (!taken.ok()) return taken;
      if (*taken == 0) return at;
      at += *taken;
      if (sink.enough()) return at;
    }
  } catch (const std::bad_alloc&) {
    return fatal(Errc::overloaded, "out of memory while reading a frame");
  }
}

Result<std::size_t> TenonSession::take(std::string_view bytes, FrameSink& sink) {
  switch (mode_) {
    case Mode::preface: return take_preface(bytes);
    case Mode::frames: return take_frame(bytes, sink);
    case Mode::gather: return take_gathered(bytes, sink);
    case Mode::body: return take_body(bytes, sink);
    case Mode::part: return take_part(bytes, sink);
    case Mode::skip: {
      const std::size_t n = std::min(skip_, bytes.size());
      skip_ -= n;
      if (skip_ == 0) mode_ = Mode::frames;
      return n;
    }
    case Mode::failed: break;
  }
  return Error(Errc::unavailable, "protocol tenon: bytes after a fatal error of this connection");
}

Result<void> TenonSession::received_direct(std::size_t n, FrameSink& sink) {
  if (want().into == nullptr || n > want().size) {
    return fatal(Errc::internal, "received_direct() of " + std::to_string(n) + " bytes that were not wanted");
  }
  try {
    if (!unsent_cancels_.empty()) deliver_unsent_cancels(sink);
    if (mode_ == Mode::part) {
      Assembly& assembly = *find_assembly(part_call_);
      assembly.incoming->body.commit(n);
      assembly.left -= n;
      part_left_ -= n;
      finish_part(sink);
      return {};
    }
    incoming_->body.commit(n);
    finish_body(sink);
  } catch (const std::bad_alloc&) {
    return fatal(Errc::overloaded, "out of memory while reading a large body");
  }
  return {};
}

Result<std::size_t> TenonSession::begin_gather(const Place& place) {
  if (place.here < enough_to_wait) return std::size_t{0};
  const std::size_t present = place.prefix + place.here;
  gather_size_ = place.prefix + std::min(place.length, direct_size + limits_.max_headers + max_head);
  gathered_.append(place.fields - place.prefix, present);
  mode_ = Mode::gather;
  return present;
}

Result<std::size_t> TenonSession::take_gathered(std::string_view bytes, FrameSink& sink) {
  const std::size_t n = std::min(gather_size_ - gathered_.size(), bytes.size());
  gathered_.append(bytes.data(), n);
  if (gathered_.size() < gather_size_) return n;
  const OutBuffer frame = std::move(gathered_);
  mode_ = Mode::frames;
  Result<std::size_t> taken = take_frame(frame.view(), sink);
  if (!taken.ok()) return taken;
  if (*taken != frame.size()) return fatal(Errc::internal, "a gathered frame was not consumed");
  return n;
}

// Admits a frame whose body comes in by and by; `head_bytes` are those in front of it. False: not for the sink.
Result<bool> TenonSession::keep_incoming(const Head& head, std::string_view head_bytes, std::size_t size, bool in_parts,
                                         Incoming& incoming) {
  // The head is read once more from a copy, because its views must outlive the caller's bytes.
  incoming.held.append(head_bytes);
  Cursor cursor(incoming.held.data(), incoming.held.size(), incoming.held.size());
  std::uint8_t type = 0;
  Head kept(head.kind, head.flags);
  if (cursor.byte(type) != Scan::ok || read_head(cursor, limits_, kept) != Scan::ok) {
    return fatal(Errc::internal, "a head could not be read twice");
  }
  incoming.attachment = static_cast<std::size_t>(head.attachment);
  Result<bool> wanted = admit(kept, size, in_parts, incoming.frame);
  if (wanted.ok() && *wanted) incoming.body.begin(size);
  return wanted;
}

Result<std::size_t> TenonSession::begin_body(const Place& place, const Head& head) {
  auto incoming = std::make_unique<Incoming>();
  const std::size_t size = place.length - head.body_at;
  Result<bool> wanted = keep_incoming(head, {place.fields, head.body_at}, size, false, *incoming);
  if (!wanted.ok()) return std::move(wanted).error();
  if (!*wanted) return skip(place);
  incoming->body.append({place.fields + head.body_at, place.here - head.body_at});
  incoming_ = std::move(incoming);
  mode_ = Mode::body;
  return place.prefix + place.here;
}

Result<std::size_t> TenonSession::take_body(std::string_view bytes, FrameSink& sink) {
  const std::size_t n = incoming_->body.append(bytes);
  finish_body(sink);
  return n;
}

void TenonSession::finish_body(FrameSink& sink) {
  if (!incoming_->body.complete()) return;
  const std::unique_ptr<Incoming> done = std::move(incoming_);
  mode_ = Mode::frames;
  deliver(*done, sink);
}

// The attachment stays where it was received; what is small beside a large body is copied, so that it does not keep
// all of it.
void TenonSession::deliver(Incoming& incoming, FrameSink& sink) {
  OutBuffer all = incoming.body.release();
  Frame& frame = incoming.frame;
  const std::size_t body_size = all.size() - incoming.attachment;
  if (incoming.attachment == 0) {
    frame.owned = std::move(all);
    sink.on_frame(frame);
  } else if (body_size >= direct_size && incoming.attachment < direct_size) {
    OutBuffer copy;
    copy.append(all.view().substr(body_size));
    frame.attachment = Attachment(std::move(copy));
    all.resize(body_size);
    frame.owned = std::move(all);
    sink.on_frame(frame);
  } else {
    const Attachment whole(std::move(all));
    frame.attachment = whole.part(body_size, incoming.attachment);
    frame.body = whole.bytes().substr(0, body_size);
    sink.on_frame(frame);
  }
}

std::size_t TenonSession::skip(const Place& place) noexcept {
  if (!place.complete()) {
    skip_ = place.length - place.here;
    mode_ = Mode::skip;
  }
  return place.prefix + place.here;
}

}  // namespace tenon::wire
