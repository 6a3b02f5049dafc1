#pragma once
#include <memory>
#include <string_view>

#include "tenon/catalog.hpp"
#include "tenon/protocol.hpp"

namespace tenon::wire {

/// Protocol "tenon": this project's own wire format, version 1. No settings; its limits are the connection's.
/// Threads: const and concurrent.
class TenonProtocol final : public Protocol {
 public:
  using Options = NoOptions;
  static Result<std::unique_ptr<TenonProtocol>> create(Options options, Environment environment);

  std::string_view name() const noexcept override { return "tenon"; }
  Match sniff(std::string_view first) const noexcept override;
  std::unique_ptr<Session> open(Side side, const Limits& limits,
                                std::span<const std::string> compressors) const override;
  Result<void> check(const Demands& demands) const override;
};

}  // namespace tenon::wire
