#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "numbers.hpp"
#include "tenon/catalog.hpp"
#include "tenon/describe.hpp"
#include "tenon/protocol.hpp"

namespace tenon::motan2 {

/// Whose heartbeat a client sends. Every server answers either, in the asker's style or its own.
enum class HeartbeatStyle { java, go };
BOOST_DESCRIBE_ENUM(HeartbeatStyle, java, go)

struct Motan2Options {
  std::string application;   ///< M_s of requests
  std::string module_name;   ///< M_mdu of requests
  HeartbeatStyle heartbeat = HeartbeatStyle::java;
  std::map<std::string, std::uint32_t> serializers;  ///< names and numbers besides Motan's own
};
BOOST_DESCRIBE_STRUCT(Motan2Options, (), (application, module_name, heartbeat, serializers))

/// What every session of one protocol object shares. Immutable.
struct Settings {
  Motan2Options options;
  SerializerNumbers numbers;
};

/// Protocol "motan2": version 2 of Weibo Motan's wire protocol. README.md of this plugin says what it carries.
/// Threads: const and concurrent.
class Motan2Protocol final : public Protocol {
 public:
  using Options = Motan2Options;
  /// Fails with: config (a serializer number, an application or module with a newline).
  static Result<std::unique_ptr<Motan2Protocol>> create(Options options, Environment environment);
  explicit Motan2Protocol(std::shared_ptr<const Settings> settings) : settings_(std::move(settings)) {}

  std::string_view name() const noexcept override { return "motan2"; }
  Match sniff(std::string_view first) const noexcept override;
  std::unique_ptr<Session> open(Side side, const Limits& limits,
                                std::span<const std::string> compressors) const override;
  Result<void> check(const Demands& demands) const override;

 private:
  std::shared_ptr<const Settings> settings_;
};

}  // namespace tenon::motan2

template <>
struct tenon::Describe<tenon::motan2::Motan2Options> {
  static constexpr auto members = tenon::members(
      tenon::member("application", "who calls, to Motan servers (M_s)"),
      tenon::member("module_name", "module of the caller, to Motan servers (M_mdu)"),
      tenon::member("heartbeat", "style of the heartbeats a client sends"),
      tenon::member("serializers", "numbers of serializers that Motan's own table does not have"));
};
