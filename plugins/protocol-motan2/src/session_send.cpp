// Frames out.
#include <algorithm>
#include <cstring>
#include <new>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::motan2 {
namespace {

constexpr std::size_t max_remembered = 1024;  // methods called over one connection
constexpr std::uint8_t go_heartbeat = bit_heartbeat | bit_proxy;
constexpr std::uint8_t java_serializer = 1;
constexpr std::uint8_t go_serializer = 6;

std::uint64_t milliseconds_up(Duration remaining) noexcept {
  return remaining.count() <= 0 ? 1 : (static_cast<std::uint64_t>(remaining.count()) + 999'999) / 1'000'000;
}

std::string method_text(const Target* target) {
  if (!target || !target->service || !target->method) return "(unknown method)";
  return target->service->text() + "." + std::string(target->method->name);
}

Error refused(Errc code, std::string text) {
  return Error(code, "protocol motan2: " + std::move(text), Delivery::not_run);
}

}  // namespace

Motan2Session::Motan2Session(std::shared_ptr<const Settings> settings, Side side, const Limits& limits)
    : settings_(std::move(settings)), limits_(limits), side_(side) {}
Motan2Session::~Motan2Session() = default;

void Motan2Session::close(const Error&) { closing_ = true; }

Result<void> Motan2Session::send(Frame& frame) {
  try {
    if (mode_ == Mode::failed) return refused(Errc::unavailable, "the connection has failed");
    switch (frame.kind) {
      case FrameKind::request: return send_request(frame);
      case FrameKind::response: return send_response(frame);
      case FrameKind::error:
        if (!server_calls_.find(frame.call)) break;
        send_error(frame);
        return {};
      case FrameKind::cancel: client_calls_.abandon(frame.call); return {};
      case FrameKind::ping:
        // Motan's clients take a request of the server for garbage.
        if (side_ == Side::server) return refused(Errc::invalid_argument, "only clients send heartbeats");
        send_ping();
        return {};
      case FrameKind::pong:
        if (side_ == Side::client) return refused(Errc::invalid_argument, "only servers answer heartbeats");
        send_pong();
        return {};
      case FrameKind::goaway: close(frame.error); return {};
      case FrameKind::message:
      case FrameKind::end:
      case FrameKind::credit: return refused(Errc::invalid_argument, "there are no streams in this protocol");
    }
    return refused(Errc::invalid_argument, "call " + std::to_string(frame.call) + " is not open, it has no answer");
  } catch (const std::bad_alloc&) {
    return refused(Errc::overloaded, "out of memory while appending a frame");
  }
}

Result<void> Motan2Session::check_headers(const Headers& headers) const {
  if (headers.empty()) return {};
  std::size_t bytes = 0;
  for (const auto& [name, value] : headers.entries()) {
    if (auto fits = check_attachment(name, value); !fits.ok()) return fits;
    bytes += name.size() + value.size() + 2;
  }
  if (bytes > limits_.max_headers || headers.size() > limits_.max_header_count)
    return refused(Errc::too_large, std::to_string(headers.size()) + " headers of " + std::to_string(bytes) +
                                        " bytes; at most " + std::to_string(limits_.max_header_count) + " of " +
                                        std::to_string(limits_.max_headers) +
                                        " are sent (limits.max_header_count, limits.max_headers)");
  return {};
}

Result<void> Motan2Session::check_size(std::size_t body, const std::string& whose) const {
  if (body <= limits_.max_frame) return {};
  return refused(Errc::too_large, whose + " has a body of " + std::to_string(body) + " bytes; at most " +
                                      std::to_string(limits_.max_frame) + " are sent (limits.max_frame)");
}

const std::string* Motan2Session::names_of(const Target& target) {
  if (last_target_ == &target) return last_names_;
  auto found = names_.find(&target);
  if (found == names_.end()) {
    const ServiceName& service = *target.service;
    for (const std::string_view name : {std::string_view(service.interface), std::string_view(service.group),
                                        std::string_view(service.version), target.method->name})
      if (name.find('\n') != std::string_view::npos) return nullptr;
    if (names_.size() >= max_remembered) names_.clear();
    std::string text;
    put(text, key::path, service.interface);
    put(text, key::method, target.method->name);
    if (!service.group.empty()) put(text, key::group, service.group);
    if (!service.version.empty()) put(text, key::version, service.version);
    found = names_.emplace(&target, std::move(text)).first;
  }
  last_target_ = &target;
  last_names_ = &found->second;
  return last_names_;
}

Result<void> Motan2Session::send_request(Frame& frame) {
  if (side_ == Side::server) return refused(Errc::invalid_argument, "a server session sends no requests");
  if (closing_) return refused(Errc::unavailable, "this connection is being closed");
  if (!frame.target || !frame.target->service || !frame.target->method)
    return refused(Errc::invalid_argument, "a request without a target");
  const int number = settings_->numbers.number(frame.serializer);
  if (number < 0)
    return refused(Errc::invalid_argument, "serializer \"" + std::string(frame.serializer) + "\" has no number; " +
                                               settings_->numbers.text());
  if (!frame.compressor.empty() && frame.compressor != gzip)
    return refused(Errc::invalid_argument, "compressor \"" + std::string(frame.compressor) + "\" is not gzip");
  if (frame.bytes().size() > limits_.max_frame)
    return check_size(frame.bytes().size(), "the request to " + method_text(frame.target));
  if (auto fits = check_headers(frame.headers); !fits.ok()) return fits;
  const std::string* names = names_of(*frame.target);
  if (!names) return refused(Errc::invalid_argument, "a newline in the name of a service or method");

  const Motan2Options& options = settings_->options;
  metadata_.assign(*names);
  bool source = !options.application.empty();
  bool module_name = !options.module_name.empty();
  for (const auto& [name, value] : frame.headers.entries()) {
    source = source && name != key::source;
    module_name = module_name && name != key::module_name;
    put(metadata_, name, value);
  }
  if (source) put(metadata_, key::source, options.application);
  if (module_name) put(metadata_, key::module_name, options.module_name);
  if (frame.remaining != Duration{0})
    put(metadata_, key::timeout, std::to_string(milliseconds_up(frame.remaining)));
  put_last(metadata_, key::proxy_protocol, "motan2");

  Head head;
  if (frame.one_way) head.type |= bit_one_way;
  if (!frame.compressor.empty()) head.type |= bit_gzip;
  head.serializer = static_cast<std::uint8_t>(number);
  head.id = client_calls_.begin(frame.call);
  if (frame.one_way) client_calls_.abandon(frame.call);
  append(head, &frame);
  return {};
}

Result<void> Motan2Session::send_response(Frame& frame) {
  const ServerCalls::Call* call = server_calls_.find(frame.call);
  if (!call)
    return refused(Errc::invalid_argument, "call " + std::to_string(frame.call) + " is not open, it has no answer");
  if (frame.bytes().size() > limits_.max_frame)
    return check_size(frame.bytes().size(), "the reply of " + method_text(frame.target));
  if (!frame.compressor.empty() && frame.compressor != gzip)
    return refused(Errc::invalid_argument, "compressor \"" + std::string(frame.compressor) + "\" is not gzip");
  if (auto fits = check_headers(frame.headers); !fits.ok()) return fits;
  int number = call->serializer;
  if (!frame.serializer.empty() && frame.serializer != settings_->numbers.name(call->serializer))
    number = settings_->numbers.number(frame.serializer);
  if (number < 0)
    return refused(Errc::invalid_argument, "serializer \"" + std::string(frame.serializer) + "\" has no number");
  Head head;
  head.type = bit_response;
  if (!frame.compressor.empty()) head.type |= bit_gzip;
  head.serializer = static_cast<std::uint8_t>(number);
  head.id = call->id;
  metadata_.clear();
  for (const auto& [name, value] : frame.headers.entries()) put(metadata_, name, value);
  put_last(metadata_, key::process_time,
           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(frame.took).count()));
  append(head, &frame);
  server_calls_.end(frame.call);
  return {};
}

void Motan2Session::send_error(const Frame& frame) {
  const ServerCalls::Call& call = *server_calls_.find(frame.call);
  answer(call.id, call.serializer, frame.error, frame.took, call.framework);
  server_calls_.end(frame.call);
}

void Motan2Session::answer(std::uint64_t id, std::uint8_t serializer, const Error& error, Duration took,
                           bool framework) {
  metadata_.clear();
  put_failure(metadata_, error, framework, delivered_service());
  // An error that the peer cannot read ends the connection, and with it every other call.
  if (const Headers* headers = error.headers();
      headers && (headers->size() > limits_.max_header_count || metadata_.size() + 32 > limits_.max_headers)) {
    Error bare = error;
    bare.attach({});
    metadata_.clear();
    put_failure(metadata_, bare, framework, delivered_service());
  }
  put_last(metadata_, key::process_time,
           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  Head head;
  head.type = bit_response;
  head.status = 1;
  head.serializer = serializer;
  head.id = id;
  append(head, nullptr);
}

// A service is found missing while its request is being delivered.
std::string Motan2Session::delivered_service() const {
  if (!delivering_) return {};
  std::string text(delivering_->group);
  return text.append("/").append(delivering_->interface).append("/").append(delivering_->version);
}

// Appends metadata_ and the frame's body, which is moved from when it is large and owned.
void Motan2Session::append(const Head& head, Frame* frame) {
  const std::string_view body = frame ? frame->bytes() : std::string_view();
  const bool own_block = body.size() >= SessionOutput::block_from;
  OutBuffer block;
  if (own_block && frame->owned.empty()) block.append(body);
  char* const start = output_.prepare(empty_frame + metadata_.size() + (own_block ? 0 : body.size()));
  if (own_block) output_.reserve_block();
  char* const end = store_head(start, head, metadata_, body.size());
  std::size_t size = static_cast<std::size_t>(end - start);
  if (!own_block && !body.empty()) {
    std::memcpy(end, body.data(), body.size());
    size += body.size();
  }
  output_.commit(size);
  if (own_block) output_.append_block(frame->owned.empty() ? std::move(block) : std::move(frame->owned));
}

void Motan2Session::send_ping() {
  const bool java = settings_->options.heartbeat == HeartbeatStyle::java;
  Head head;
  head.type = java ? bit_heartbeat : go_heartbeat;
  head.serializer = java ? java_serializer : go_serializer;
  head.id = std::uint64_t{ClientCalls::heartbeat} << 32 | ++pings_;
  metadata_.clear();
  append(head, nullptr);
}

// In the asker's style.
void Motan2Session::send_pong() {
  pong_due_ = false;
  Head head;
  head.type = static_cast<std::uint8_t>((ping_.type & go_heartbeat) | bit_response);
  head.serializer = ping_.serializer;
  head.id = ping_.id;
  metadata_.clear();
  append(head, nullptr);
}

}  // namespace tenon::motan2
