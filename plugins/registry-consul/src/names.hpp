#pragma once
// Where things are in Consul: Motan's names, and ours next to them.

#include <string>
#include <string_view>

#include "tenon/method.hpp"
#include "tenon/result.hpp"

namespace tenon::consul {

inline constexpr std::string_view provider_prefix = "motanrpc_";         ///< of Motan's services, one for each group
inline constexpr std::string_view consumer_prefix = "tenon_consumers_";  ///< of ours, who follow that group
inline constexpr std::string_view protocol_tag = "protocol_";
inline constexpr std::string_view url_tag = "URL_";
inline constexpr std::string_view documents_root = "motan/";
inline constexpr std::string_view words_root = "tenon/operator/";
inline constexpr std::string_view tombs_root = "tenon/left/";

/// "motanrpc_<group>".
std::string provider_service(const std::string& group);
/// "tenon_consumers_<group>".
std::string consumer_service(const std::string& group);
/// Motan's id of a registration, "host:port-interface"; from the second on at one address with a number behind it.
std::string registration_id(const std::string& address, const std::string& interface, int number);
/// "motan/<kind>/<group>"; kind "command" is Motan's.
std::string document_key(const std::string& kind, const std::string& group);
/// What operators said about the registrations of a group: "tenon/operator/<group>/<id>"; without an id the folder.
std::string word_key(const std::string& group, const std::string& id = {});
/// Which registrations of a group left on purpose lately: "tenon/left/<group>/<id>"; without an id the folder.
std::string tomb_key(const std::string& group, const std::string& id = {});

/// A part of an HTTP target: everything but letters, digits and `-._~` becomes %XX.
std::string escape(std::string_view text);
/// Java's java.net.URLEncoder and URLDecoder, in which Motan writes a URL into a tag.
std::string java_url_encode(std::string_view text);
std::string java_url_decode(std::string_view text);
/// A key of several parts as an HTTP target: its slashes stay.
std::string escape_key(std::string_view key);

/// Can be a part of a name, a key and an HTTP target. Fails with: config, in a sentence that begins with `what`.
Result<void> check_name(std::string_view what, std::string_view name);
/// Group and interface can. Fails with: config.
Result<void> check_service(const ServiceName& service);
/// Kind and group can. Fails with: config.
Result<void> check_document(const std::string& kind, const std::string& group);

}  // namespace tenon::consul
