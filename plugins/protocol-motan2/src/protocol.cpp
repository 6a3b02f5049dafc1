#include "protocol.hpp"

#include "session.hpp"
#include "wire.hpp"

namespace tenon::motan2 {

Result<std::unique_ptr<Motan2Protocol>> Motan2Protocol::create(Options options, Environment) {
  for (const auto& [name, value] :
       {std::pair("application", &options.application), std::pair("module_name", &options.module_name)})
    if (value->find('\n') != std::string::npos)
      return Error(Errc::config, std::string(name) + " has a newline, which motan2's metadata cannot carry");
  Result<SerializerNumbers> numbers = SerializerNumbers::create(options.serializers);
  if (!numbers.ok()) return std::move(numbers).error();
  return std::make_unique<Motan2Protocol>(
      std::make_shared<const Settings>(Settings{std::move(options), std::move(*numbers)}));
}

Protocol::Match Motan2Protocol::sniff(std::string_view first) const noexcept {
  const std::string_view head = first.substr(0, magic.size());
  if (head != magic.substr(0, head.size())) return Match::no;
  return head.size() == magic.size() ? Match::yes : Match::more;
}

std::unique_ptr<Session> Motan2Protocol::open(Side side, const Limits& limits, std::span<const std::string>) const {
  return std::make_unique<Motan2Session>(settings_, side, limits);
}

Result<void> Motan2Protocol::check(const Demands& demands) const {
  if (!demands.serializer.empty() && settings_->numbers.number(demands.serializer) < 0)
    return Error(Errc::config,
                 "protocol motan2 has no number for serializer \"" + std::string(demands.serializer) +
                     "\"; it knows " + settings_->numbers.text() +
                     ". Choose simple, or protobuf for methods with one generated message, or give it a number with "
                     "the protocol's option `serializers`",
                 Delivery::not_run);
  if (!demands.compressor.empty() && demands.compressor != gzip)
    return Error(Errc::config,
                 "protocol motan2 carries bodies compressed by gzip, not by \"" + std::string(demands.compressor) + '"',
                 Delivery::not_run);
  if (demands.streams)
    return Error(Errc::config, "protocol motan2 has no streams; use unary and one_way methods", Delivery::not_run);
  return {};
}

}  // namespace tenon::motan2
