#include "plugin_host/loaded_catalog.hpp"

namespace tenon::plugin_host {

void LoadedCatalog::add(const CatalogEntry& entry) {
  LoadedEntry own;
  own.entry = entry;
  own.origin = "this program";
  std::vector<LoadedEntry> entries;
  entries.push_back(std::move(own));
  if (auto added = add_all(std::move(entries)); !added.ok() && !error_) error_ = std::move(added).error();
}

Result<void> LoadedCatalog::take_error() {
  if (!error_) return {};
  return std::exchange(error_, Error());
}

Result<void> LoadedCatalog::add_all(std::vector<LoadedEntry> entries) {
  for (const LoadedEntry& added : entries) {
    const LoadedEntry* const there = find(added.entry.kind, added.entry.name);
    if (!there) continue;
    return Error(Errc::already_exists,
                 std::string(added.entry.kind) + " \"" + added.entry.name + "\" is offered by both " + there->origin +
                     " and " + added.origin + "; load one of them",
                 Delivery::not_run);
  }
  for (LoadedEntry& added : entries) {
    std::string name = added.entry.name;
    kinds_[std::string(added.entry.kind)].emplace(std::move(name), std::move(added));
  }
  return {};
}

const LoadedEntry* LoadedCatalog::find(std::string_view kind, std::string_view name) const noexcept {
  const auto names = kinds_.find(kind);
  if (names == kinds_.end()) return nullptr;
  const auto found = names->second.find(name);
  return found == names->second.end() ? nullptr : &found->second;
}

std::vector<std::string_view> LoadedCatalog::names(std::string_view kind) const {
  std::vector<std::string_view> found;
  if (const auto names = kinds_.find(kind); names != kinds_.end())
    for (const auto& [name, entry] : names->second) found.push_back(name);
  return found;
}

std::vector<const LoadedEntry*> LoadedCatalog::all() const {
  std::vector<const LoadedEntry*> found;
  for (const auto& [kind, names] : kinds_)
    for (const auto& [name, entry] : names) found.push_back(&entry);
  return found;
}

}  // namespace tenon::plugin_host
