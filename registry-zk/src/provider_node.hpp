#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "node_text.hpp"
#include "service_url.hpp"
#include "tenon/registry.hpp"

namespace tenon::zk {

/// What a node below `server` or `unavailableServer` says.
struct ProviderNode {
  Instance instance;
  std::string version;          ///< of the service; empty: Motan's default, "1.0"
  bool withdrawn = false;       ///< a tombstone: it left on purpose
  std::optional<bool> serving;  ///< what an operator has written; else its folder says
  /// In a folder that by itself means `folder_serves`.
  bool serves(bool folder_serves) const noexcept { return serving.value_or(folder_serves); }
};

/// The node's text, as Motan writes it: scheme `motan2` where the instance speaks that, else its first protocol;
/// `group` first, then the parameters by name. What Motan has no parameter for: `instanceId`, `protocols`, `transport`,
/// `weight`, `withdrawn`; an operator adds `serving`. Metadata are parameters of their own names (with `meta.` in front
/// where the name is taken).
/// REQUIRES: the address is host:port.
std::string write_provider(const ServiceName& service, const Instance& instance, bool withdrawn = false);

/// Reads what write_provider() and Motan write. The name of the node fills in what the text does not say: the address,
/// and with it the id. Empty data is an instance that speaks motan2. The instance's `serving` stays true: see serves().
/// Fails with: malformed.
Result<ProviderNode> read_provider(std::string_view data, std::string_view node_name);

/// The same data with another weight, everything else and its encoding as it was. Fails with: malformed.
Result<std::string> with_weight(std::string_view data, std::string_view node_name, std::uint32_t weight);
/// The same with an operator's word on whether it serves; nothing: the folder says. Fails with: malformed.
Result<std::string> with_serving(std::string_view data, std::string_view node_name, std::optional<bool> serving);

/// The text of a consumer's node below `client`: Motan's, with the subscriber as `application`, and
/// `framework=tenon`, which Motan's have not.
std::string write_consumer(const Subscription& subscription, const std::string& host);
/// Who that is: its `application`, else the node's name; at the URL's host, else the name's.
Subscriber read_consumer(std::string_view data, std::string_view node_name);

/// Two versions that mean the same: an absent one is "1.0".
bool same_version(std::string_view a, std::string_view b) noexcept;

}  // namespace tenon::zk
