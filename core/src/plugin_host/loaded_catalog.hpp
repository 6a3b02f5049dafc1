#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/core_export.hpp"

namespace tenon::plugin_host {

/// An implementation, and who brought it.
struct LoadedEntry {
  CatalogEntry entry;
  std::string origin;  ///< the file; for what a program adds itself "this program"
  std::string plugin;  ///< the plugin's name
  std::string version;
};

/// What one App's plugins offer.
/// Threads: filled by one thread at start-up, then const from any.
class TENON_CORE LoadedCatalog final : public Catalog {
 public:
  using Catalog::add;
  /// For implementations that live in the program itself (tests, static plugins).
  /// A second (kind, name) is kept out and reported by take_error().
  void add(const CatalogEntry& entry) override;
  Result<void> take_error();

  /// All of them or none. Fails with: already_exists, naming both files.
  Result<void> add_all(std::vector<LoadedEntry> entries);

  const LoadedEntry* find(std::string_view kind, std::string_view name) const noexcept;
  /// Names of one kind, sorted.
  std::vector<std::string_view> names(std::string_view kind) const;
  /// Everything, by kind and name.
  std::vector<const LoadedEntry*> all() const;

 private:
  using Names = std::map<std::string, LoadedEntry, std::less<>>;
  std::map<std::string, Names, std::less<>> kinds_;
  Error error_;
};

}  // namespace tenon::plugin_host
