#include "protocol.hpp"

#include "session.hpp"
#include "text.hpp"

namespace tenon::http {
namespace {

Error no_client() {
  return Error(Errc::config,
               "protocol http has no client side: references cannot use it. Choose protocol tenon (or motan2) for the "
               "reference; a server may listen for both on one port",
               Delivery::not_run);
}

/// Protocol::open() owes a session for either side.
class HttpClientSession final : public Session {
 public:
  Want want() noexcept override { return {}; }
  Result<std::size_t> received(std::string_view, FrameSink&) override { return no_client(); }
  Result<void> received_direct(std::size_t, FrameSink&) override { return no_client(); }
  Result<void> send(Frame& frame) override {
    if (frame.kind == FrameKind::cancel || frame.kind == FrameKind::goaway) return {};
    return Error(Errc::invalid_argument, no_client().text(), Delivery::not_run, Advice::never);
  }
  void produce(Gather&, std::size_t) override {}
  void written(std::size_t) override {}
  std::size_t unwritten() const noexcept override { return 0; }
  TimePoint next_deadline() const noexcept override { return never; }
  Result<void> tick(TimePoint) override { return {}; }
  std::uint32_t max_concurrent() const noexcept override { return 0; }
  bool acknowledges_cancel() const noexcept override { return false; }
  bool accepts(std::string_view) const noexcept override { return false; }
  void close(const Error&) override {}
};

}  // namespace

Result<std::unique_ptr<HttpProtocol>> HttpProtocol::create(Options options, Environment) {
  if (options.header_timeout.count() < 0) return Error(Errc::config, "header_timeout is negative; 0 means no limit");
  if (options.idle_timeout.count() < 0) return Error(Errc::config, "idle_timeout is negative; 0 means no limit");
  Result<MediaTypes> types = MediaTypes::create(options.content_types);
  if (!types.ok()) return std::move(types).error();
  return std::make_unique<HttpProtocol>(
      std::make_shared<const Settings>(Settings{std::move(options), std::move(*types)}));
}

Protocol::Match HttpProtocol::sniff(std::string_view first) const noexcept {
  bool more = false;
  for (const std::string_view word :
       {"POST ", "GET ", "PUT ", "HEAD ", "OPTIONS ", "DELETE ", "PATCH ", "PRI * HTTP/2"}) {
    const std::string_view head = first.substr(0, word.size());
    if (head != word.substr(0, head.size())) continue;
    if (head.size() == word.size()) return Match::yes;
    more = true;
  }
  return more ? Match::more : Match::no;
}

std::unique_ptr<Session> HttpProtocol::open(Side side, const Limits& limits,
                                            std::span<const std::string> compressors) const {
  if (side == Side::client) return std::make_unique<HttpClientSession>();
  return std::make_unique<HttpSession>(settings_, limits, compressors);
}

Result<void> HttpProtocol::check(const Demands& demands) const {
  if (!demands.serializer.empty()) return no_client();
  if (!demands.compressor.empty() && !is_token(demands.compressor))
    return Error(Errc::config,
                 "compressor \"" + std::string(demands.compressor) + "\" cannot be named in a Content-Encoding of HTTP",
                 Delivery::not_run);
  if (demands.streams)
    return Error(Errc::config, "protocol http has no streams; use unary and one_way methods", Delivery::not_run);
  return {};
}

}  // namespace tenon::http
