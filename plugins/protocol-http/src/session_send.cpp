// Frames out.
#include <algorithm>
#include <cstring>
#include <new>

#include "answer.hpp"
#include "session.hpp"
#include "text.hpp"

namespace tenon::http {
namespace {

Error refused(Errc code, std::string text) {
  return Error(code, "protocol http: " + std::move(text), Delivery::not_run);
}

}  // namespace

HttpSession::HttpSession(std::shared_ptr<const Settings> settings, const Limits& limits,
                         std::span<const std::string> compressors)
    : settings_(std::move(settings)), limits_(limits), compressors_(compressors.begin(), compressors.end()) {}
HttpSession::~HttpSession() = default;

void HttpSession::written(std::size_t n) {
  output_.written(n);
  if (mode_ != Mode::head || held_.empty()) ++step_;
}

bool HttpSession::accepts(std::string_view compressor) const noexcept {
  for (std::size_t at = 0; at < compressors_.size(); ++at)
    if (compressors_[at] == compressor) return pipeline_.all_accept(static_cast<std::uint32_t>(at));
  return false;
}

Result<void> HttpSession::send(Frame& frame) {
  try {
    if (mode_ == Mode::failed) return refused(Errc::unavailable, "the connection has failed");
    switch (frame.kind) {
      case FrameKind::response:
      case FrameKind::error: {
        Pipeline::Entry* entry = pipeline_.find(frame.call);
        if (!entry)
          return refused(Errc::invalid_argument,
                         "call " + std::to_string(frame.call) + " is not open, it has no answer");
        if (frame.kind == FrameKind::response) return send_response(frame, *entry);
        send_error(frame, *entry);
        return {};
      }
      case FrameKind::goaway: close(frame.error); return {};
      case FrameKind::ping:
      case FrameKind::pong: return refused(Errc::invalid_argument, "HTTP has no heartbeats");
      case FrameKind::request:
      case FrameKind::cancel: return refused(Errc::invalid_argument, "a server makes no calls");
      case FrameKind::message:
      case FrameKind::end:
      case FrameKind::credit: break;
    }
    return refused(Errc::invalid_argument, "there are no streams in this protocol");
  } catch (const std::bad_alloc&) {
    return refused(Errc::overloaded, "out of memory while appending an answer");
  }
}

Result<void> HttpSession::check_fields(const Headers& headers) const {
  std::size_t bytes = 0;
  for (const auto& [name, value] : headers.entries()) {
    if (auto fits = check_field(name, value); !fits.ok()) return fits;
    bytes += name.size() + value.size() + 4;
  }
  if (bytes > limits_.max_headers || headers.size() > limits_.max_header_count)
    return refused(Errc::too_large, std::to_string(headers.size()) + " headers of " + std::to_string(bytes) +
                                        " bytes; at most " + std::to_string(limits_.max_header_count) + " of " +
                                        std::to_string(limits_.max_headers) +
                                        " are sent (limits.max_header_count, limits.max_headers)");
  return {};
}

Result<void> HttpSession::send_response(Frame& frame, Pipeline::Entry& entry) {
  const std::size_t size = frame.bytes().size();
  if (size > limits_.max_frame)
    return refused(Errc::too_large, "the reply has a body of " + std::to_string(size) + " bytes; at most " +
                                        std::to_string(limits_.max_frame) + " are sent (limits.max_frame)");
  if (auto fits = check_fields(frame.headers); !fits.ok()) return fits;
  const MediaType* type = entry.call.type;
  if (!frame.serializer.empty() && frame.serializer != type->serializer) type = settings_->types.of(frame.serializer);
  if (!type)
    return refused(Errc::invalid_argument, "no Content-Type names serializer \"" + std::string(frame.serializer) +
                                               "\"; add one to the protocol's option `content_types`");
  if (!frame.compressor.empty() && !is_token(frame.compressor))
    return refused(Errc::invalid_argument, "no Content-Encoding names the reply's compressor");
  head_.clear();
  put_status(head_, 200);
  if (!frame.compressor.empty()) put_field(head_, "Content-Encoding", frame.compressor);
  for (const auto& [name, value] : frame.headers.entries()) put_field(head_, name, value);
  Call call = entry.call;
  call.close = call.close || ends_with(entry);
  end_head(head_, 200, type->answer, size, call);
  put(entry, frame.body, frame.owned.empty() ? nullptr : &frame.owned);
  if (call.close && mode_ == Mode::head) mode_ = Mode::done;
  write_ready();
  return {};
}

void HttpSession::send_error(const Frame& frame, Pipeline::Entry& entry) {
  const int status = status_of(frame.error.code());
  const std::string text = error_text(frame.error);
  head_.clear();
  put_status(head_, status);
  put_error_fields(head_, status, frame.error, limits_);
  Call call = entry.call;
  call.close = call.close || ends_with(entry);
  end_head(head_, status, json_type, text.size(), call);
  put(entry, text, nullptr);
  if (call.close && mode_ == Mode::head) mode_ = Mode::done;
  write_ready();
}

void HttpSession::refuse(const Call& call, const Refusal& refusal) {
  const std::string text = refusal.error ? error_text(refusal.error) : std::string();
  Pipeline::Entry& entry = *pipeline_.find(pipeline_.begin(call));
  head_.clear();
  put_status(head_, refusal.status);
  head_.append(refusal.fields);
  put_error_fields(head_, refusal.status, refusal.error, limits_);
  end_head(head_, refusal.status, text.empty() ? std::string_view() : json_type, text.size(), call);
  put(entry, call.head_only ? std::string_view() : std::string_view(text), nullptr);
  write_ready();
}

// While the server is stopping, the last answer says that it is the last.
bool HttpSession::ends_with(const Pipeline::Entry& entry) const noexcept {
  return closing_ && mode_ == Mode::head && held_.empty() && pipeline_.is_last(entry);
}

void HttpSession::put(Pipeline::Entry& entry, std::string_view body, OutBuffer* owned) {
  if (owned) body = owned->view();
  const bool own_block = body.size() >= SessionOutput::block_from;
  OutBuffer copy;
  if (own_block && !owned) copy.append(body);
  const std::size_t size = head_.size() + (own_block ? 0 : body.size());
  const bool now = pipeline_.is_first(entry);
  char* const start = now ? output_.prepare(size) : entry.text.prepare(size);
  if (now && own_block) output_.reserve_block();
  std::memcpy(start, head_.data(), head_.size());
  if (!own_block && !body.empty()) std::memcpy(start + head_.size(), body.data(), body.size());
  // Nothing below fails.
  OutBuffer block;
  if (own_block) block = owned ? std::move(*owned) : std::move(copy);
  if (now) {
    output_.commit(size);
    if (own_block) output_.append_block(std::move(block));
  } else {
    entry.text.commit(size);
    entry.block = std::move(block);
  }
  pipeline_.answer(entry);
}

void HttpSession::write_ready() noexcept {
  if (mode_ != Mode::head || held_.empty()) ++step_;
  try {
    while (Pipeline::Entry* entry = pipeline_.ready()) {
      const std::size_t held = entry->text.size() + entry->block.size();
      if (!entry->text.empty()) {
        char* const start = output_.prepare(entry->text.size());
        if (!entry->block.empty()) output_.reserve_block();
        std::memcpy(start, entry->text.data(), entry->text.size());
        output_.commit(entry->text.size());
        if (!entry->block.empty()) output_.append_block(std::move(entry->block));
      }
      pipeline_.pop(held);
    }
    offer_continue();
  } catch (const std::bad_alloc&) {
    // They stay held back; whoever sends next tries again.
  }
}

}  // namespace tenon::http
