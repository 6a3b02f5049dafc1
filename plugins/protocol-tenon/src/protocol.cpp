#include "protocol.hpp"

#include <string>

#include "session.hpp"
#include "wire.hpp"

namespace tenon::wire {

Result<std::unique_ptr<TenonProtocol>> TenonProtocol::create(Options, Environment) {
  return std::make_unique<TenonProtocol>();
}

Protocol::Match TenonProtocol::sniff(std::string_view first) const noexcept {
  const std::string_view head = first.substr(0, magic.size());
  if (head != magic.substr(0, head.size())) return Match::no;
  return head.size() == magic.size() ? Match::yes : Match::more;
}

std::unique_ptr<Session> TenonProtocol::open(Side side, const Limits& limits,
                                             std::span<const std::string> compressors) const {
  return std::make_unique<TenonSession>(side, limits, compressors);
}

Result<void> TenonProtocol::check(const Demands& demands) const {
  for (const std::string_view name : {demands.serializer, demands.compressor}) {
    if (name.size() > max_name) {
      return Error(Errc::config,
                   "protocol tenon carries names of serializers and compressors of at most " +
                       std::to_string(max_name) + " bytes, not one of " + std::to_string(name.size()),
                   Delivery::not_run);
    }
  }
  return {};
}

}  // namespace tenon::wire
