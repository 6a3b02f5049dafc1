#pragma once
#include <string>
#include <string_view>

#include "tenon/method.hpp"
#include "tenon/result.hpp"

namespace tenon::zk {

inline constexpr std::string_view default_group = "default_rpc";
inline constexpr std::string_view default_version = "1.0";
inline constexpr std::string_view serving_folder = "server";
inline constexpr std::string_view unavailable_folder = "unavailableServer";
inline constexpr std::string_view client_folder = "client";
inline constexpr std::string_view command_node = "command";

/// A service without a group is in Motan's.
std::string group_or_default(const std::string& group);

/// Where things are below a root, as in Motan.
class Layout {
 public:
  /// REQUIRES: root was checked.
  explicit Layout(std::string root) : root_(std::move(root)) {}
  const std::string& root() const noexcept { return root_; }
  std::string group(const std::string& group) const { return root_ + "/" + group_or_default(group); }
  /// Of all versions of the service.
  std::string service(const ServiceName& service) const { return group(service.group) + "/" + service.interface; }
  /// Kind "command" is Motan's node; others stand below it, where Motan does not look.
  std::string document(const std::string& kind, const std::string& group) const;

 private:
  const std::string root_;
};

/// Can be one element of a path. Fails with: config, in a sentence that begins with `what`.
Result<void> check_name(std::string_view what, std::string_view name);
/// Group and interface can. Fails with: config.
Result<void> check_service(const ServiceName& service);
/// "/a" or deeper. Fails with: config.
Result<void> check_root(std::string_view root);

/// "/a/b" of "/a/b/c"; empty of "/a".
std::string_view parent_of(std::string_view path) noexcept;
/// "c" of "/a/b/c".
std::string_view name_of(std::string_view path) noexcept;

}  // namespace tenon::zk
