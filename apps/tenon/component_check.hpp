#pragma once
// Everything an App checks about its components before it binds a port, without making any of them.

#include <functional>
#include <string>

#include "manifest/reader.hpp"
#include "plugin_host/plugin_host.hpp"
#include "tenon/options.hpp"

namespace tenon::cli {

/// Told of one mistake: one or more lines "file:line:col: what is wrong".
using Complaint = std::function<void(const std::string& lines)>;

/// Looks at every component that `options` name: is there such an implementation in `host`, do its options fit.
/// Components that options ask for are looked at, too. Blocking: when something is missing (why_missing looks at
/// files). Ownership: borrows all three.
class ComponentCheck final : private manifest::ComponentSource {
 public:
  ComponentCheck(const AppOptions& options, const plugin_host::PluginHost& host, Complaint complaint)
      : options_(options), host_(host), complaint_(std::move(complaint)) {}

  void run();
  /// Interfaces of server.services that no loaded plugin has: the program must provide them.
  const std::vector<std::string>& not_from_plugins() const noexcept { return not_from_plugins_; }

 private:
  void server();
  void reference(const std::string& path, const ReferenceOptions& reference);
  void one(std::string_view kind, const Component& component, const std::string& path);
  void each(std::string_view kind, const std::vector<Component>& components, const std::string& path);
  bool is_named(std::string_view kind, const std::string& name) const;
  std::string where(const Component& component, const std::string& path);
  Result<std::shared_ptr<void>> build(std::string_view kind, const Component& component,
                                      const std::string& path) override;

  const AppOptions& options_;
  const plugin_host::PluginHost& host_;
  Complaint complaint_;
  std::vector<std::string> not_from_plugins_;
  std::shared_ptr<const manifest::Document> document_;  // the manifest, once a component of it was seen
};

}  // namespace tenon::cli
