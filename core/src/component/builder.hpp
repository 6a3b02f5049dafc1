#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/reader.hpp"
#include "plugin_host/plugin_host.hpp"
#include "tenon/component.hpp"
#include "tenon/core_export.hpp"
#include "tenon/environment.hpp"
#include "tenon/result.hpp"

namespace tenon {

/// Turns Components into objects: finds the implementation in the catalog, reads its options strictly, builds what the
/// options themselves ask for (Use<Kind>) first, and calls its factory. A named component is built once and shared.
/// Threads: one at a time. Blocking: when something is missing (why_missing looks at files). Ownership: borrows the
/// host and what the environment refers to; the built components live on their own.
class TENON_CORE ComponentBuilder final : private manifest::ComponentSource {
 public:
  /// Makes the thing called `name` of a kind that is not in the catalog (Invoker: a reference or an address). Returns
  /// null when there is none of that name.
  using Provider = std::function<Result<std::shared_ptr<void>>(std::string_view name)>;

  ComponentBuilder(const plugin_host::PluginHost& host, Environment environment)
      : host_(host), environment_(environment) {}

  /// A component others may refer to by (kind, name). `path` is where it stands: "registries.main".
  void name(std::string kind, std::string name, Component component, std::string path);
  /// Who makes things of `kind` that are named but are no plugin's.
  void provide(std::string kind, Provider provider);

  /// Builds `component` as a K. `path` says where it stands, for messages: "client.references.greeter.serializer".
  /// Fails with: config (unknown implementation, wrong options, a cycle), or what its factory answers; with position
  /// when it came from a manifest.
  template <class K>
  Result<std::shared_ptr<K>> make(const Component& component, const std::string& path) {
    Result<std::shared_ptr<void>> made = build(K::kind, component, path);
    if (!made.ok()) return std::move(made).error();
    return std::static_pointer_cast<K>(std::move(*made));
  }
  /// The component named (K::kind, name), built now if it was not yet.
  template <class K>
  Result<std::shared_ptr<K>> named(std::string_view name) {
    Result<std::shared_ptr<void>> made = build_named(K::kind, name);
    if (!made.ok()) return std::move(made).error();
    return std::static_pointer_cast<K>(std::move(*made));
  }

  Result<std::shared_ptr<void>> build(std::string_view kind, const Component& component,
                                      const std::string& path) override;

 private:
  struct Named {
    Component component;
    std::string path;
    std::shared_ptr<void> built;
    bool provided = false;
  };
  using Key = std::pair<std::string, std::string>;

  Named* find_named(std::string_view kind, std::string_view name);
  Result<std::shared_ptr<void>> build_named(std::string_view kind, std::string_view name);
  Result<std::shared_ptr<void>> build_plain(std::string_view kind, const Component& component, const std::string& path);
  Result<void> fill_options(const plugin_host::LoadedEntry& entry, const Component& component, const std::string& path,
                            void* options);

  const plugin_host::PluginHost& host_;
  Environment environment_;
  std::map<Key, Named> named_;
  std::map<std::string, Provider, std::less<>> providers_;
  std::vector<Key> building_;  // outermost first
};

}  // namespace tenon
