#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "media_types.hpp"
#include "tenon/catalog.hpp"
#include "tenon/describe.hpp"
#include "tenon/protocol.hpp"

namespace tenon::http {

struct HttpOptions {
  std::chrono::milliseconds header_timeout{10'000};  ///< 0: none
  std::chrono::milliseconds idle_timeout{60'000};    ///< 0: none
  std::map<std::string, std::string> content_types;  ///< media types and serializers besides the known ones
};
BOOST_DESCRIBE_STRUCT(HttpOptions, (), (header_timeout, idle_timeout, content_types))

/// What every session of one protocol object shares. Immutable.
struct Settings {
  HttpOptions options;
  MediaTypes types;
};

/// Protocol "http": calls by HTTP/1.1 and 1.0, the server's side. README.md of this plugin says what it carries.
/// Threads: const and concurrent.
class HttpProtocol final : public Protocol {
 public:
  using Options = HttpOptions;
  /// Fails with: config (a negative time, a content type that is none).
  static Result<std::unique_ptr<HttpProtocol>> create(Options options, Environment environment);
  explicit HttpProtocol(std::shared_ptr<const Settings> settings) : settings_(std::move(settings)) {}

  std::string_view name() const noexcept override { return "http"; }
  /// Also yes for HTTP/2's preface, so that its senders are told.
  Match sniff(std::string_view first) const noexcept override;
  /// A client's session refuses every request.
  std::unique_ptr<Session> open(Side side, const Limits& limits,
                                std::span<const std::string> compressors) const override;
  /// Refuses references, which are told by their serializer: a server's is the request's.
  Result<void> check(const Demands& demands) const override;

 private:
  std::shared_ptr<const Settings> settings_;
};

}  // namespace tenon::http

template <>
struct tenon::Describe<tenon::http::HttpOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("header_timeout", "a request's head must be complete within it; 0: no limit"),
                     tenon::member("idle_timeout", "a connection without a request is closed after it; 0: never"),
                     tenon::member("content_types", "serializers of media types that the protocol does not know"));
};
