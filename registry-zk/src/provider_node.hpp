#pragma once
#include <string>
#include <string_view>

#include "node_text.hpp"
#include "service_url.hpp"
#include "tenon/registry.hpp"

namespace tenon::zk {

/// What a node below `server` or `unavailableServer` says.
struct ProviderNode {
  Instance instance;
  std::string version;     ///< of the service; empty: Motan's default, "1.0"
  bool withdrawn = false;  ///< a tombstone: it left on purpose
};

/// The node's text, as Motan writes it: scheme `motan2` where the instance speaks that, else its first protocol;
/// `group` first, then the parameters by name. What Motan has no parameter for: `instanceId`, `protocols`, `transport`,
/// `weight`, `withdrawn`. Metadata are parameters of their own names (with `meta.` in front where the name is taken).
/// REQUIRES: the address is host:port.
std::string write_provider(const ServiceName& service, const Instance& instance, bool withdrawn = false);

/// Reads what write_provider() and Motan write. The name of the node fills in what the text does not say: the address,
/// and with it the id. Empty data is an instance that speaks motan2. `serving` stays true: the folder says that.
/// Fails with: malformed.
Result<ProviderNode> read_provider(std::string_view data, std::string_view node_name);

/// The same data with another weight, everything else and its encoding as it was. Fails with: malformed.
Result<std::string> with_weight(std::string_view data, std::string_view node_name, std::uint32_t weight);

/// The text of a consumer's node below `client`: Motan's, with the subscriber as `application`.
std::string write_consumer(const Subscription& subscription, const std::string& host);
/// Who that is: its `application`, else the node's name.
std::string read_consumer(std::string_view data, std::string_view node_name);

/// Two versions that mean the same: an absent one is "1.0".
bool same_version(std::string_view a, std::string_view b) noexcept;

}  // namespace tenon::zk
