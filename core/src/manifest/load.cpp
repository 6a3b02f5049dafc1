// A manifest into AppOptions.
#include "manifest/load.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "defaults.hpp"
#include "manifest/check.hpp"
#include "manifest/reader.hpp"
#include "manifest/yaml.hpp"
#include "tenon/options.hpp"

namespace tenon {

namespace {

namespace fs = std::filesystem;

// The place of `path`, or of the nearest thing around it that is written in the manifest.
manifest::Position nearest_position(const manifest::Document& document, std::string_view path) {
  for (;;) {
    if (const manifest::Node* node = document.find(path)) return node->at;
    const std::size_t cut = path.find_last_of(".[");
    if (cut == std::string_view::npos) return document.root.at;
    path = path.substr(0, cut);
  }
}

std::string in_folder_of(const std::string& file, const std::string& directory) {
  if (directory.empty() || directory.front() == '/') return directory;
  std::error_code error;
  const fs::path whole = fs::absolute(fs::path(file), error);
  if (error) return directory;
  fs::path joined = (whole.parent_path() / directory).lexically_normal();
  if (!joined.has_filename()) joined = joined.parent_path();
  return joined.string();
}

// Where plugins lie beside this library: in a build tree, and when installed.
std::vector<std::string> directories_beside_core() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&directories_beside_core), &info) == 0 || !info.dli_fname) return {};
  std::error_code error;
  const fs::path core = fs::canonical(info.dli_fname, error);
  if (error) return {};
  std::vector<std::string> found;
  for (const fs::path& candidate : {core.parent_path() / "tenon" / "plugins", core.parent_path() / ".." / "plugins"})
    if (const fs::path directory = fs::canonical(candidate, error); !error) found.push_back(directory.string());
  return found;
}

}  // namespace

AppOptions manifest::read_options(std::shared_ptr<const Document> document, Diagnostics& diagnostics) {
  AppOptions options;
  ManifestReader reader(Place{document, &document->root, {}}, diagnostics);
  reader.read(message_type<AppOptions>(), &options);
  for (std::string& directory : options.plugins.search) directory = in_folder_of(document->file, directory);
  options.client.cache = in_folder_of(document->file, options.client.cache);
  options.source = std::move(document);
  return options;
}

Result<AppOptions> parse_manifest(const std::string& file, std::string_view text) {
  Result<std::shared_ptr<const manifest::Document>> parsed = manifest::parse_yaml(file, text);
  if (!parsed.ok()) return std::move(parsed).error();
  const std::shared_ptr<const manifest::Document> document = std::move(*parsed);
  manifest::Diagnostics diagnostics(file);
  AppOptions options;
  if (document->root.kind == manifest::Node::Kind::null)
    diagnostics.add({1, 1}, "the manifest is empty");
  else
    options = manifest::read_options(document, diagnostics);
  // Values that could not be read would be found wrong a second time.
  if (diagnostics.empty()) {
    manifest::check(options, [&](std::string_view path, std::string what) {
      diagnostics.add(nearest_position(*document, path), std::string(path) + ": " + std::move(what));
    });
  }
  if (!diagnostics.empty()) return Error(Errc::config, diagnostics.text(), Delivery::not_run);
  return options;
}

Result<AppOptions> load_manifest(const std::string& path) {
  Result<std::string> text = manifest::read_text(path);
  if (!text.ok()) return std::move(text).error();
  return parse_manifest(path, *text);
}

Result<void> check(const AppOptions& options) {
  std::string text;
  manifest::check(options, [&](std::string_view path, std::string what) {
    if (!text.empty()) text += '\n';
    text += std::string(path) + ": " + what;
  });
  if (text.empty()) return {};
  return Error(Errc::config, std::move(text), Delivery::not_run);
}

namespace {
void fill(Component& component, const char* use) {
  if (!component) component = Component(use);
}
}  // namespace

void apply_defaults(ReferenceOptions& reference) {
  fill(reference.transport, defaults::transport);
  fill(reference.protocol, defaults::protocol);
  fill(reference.serializer, defaults::serializer);
  fill(reference.cluster, defaults::cluster);
  fill(reference.balancer, defaults::balancer);
  fill(reference.ha, defaults::ha);
}

void apply_defaults(AppOptions& options) {
  if (options.plugins.search.empty()) options.plugins.search = directories_beside_core();
  for (ListenOptions& listen : options.server.listen) fill(listen.transport, defaults::transport);
  if (options.admin && options.admin->protocols.empty()) options.admin->protocols = {Component(defaults::protocol)};
  for (auto& [name, reference] : options.client.references) apply_defaults(reference);
}

}  // namespace tenon
