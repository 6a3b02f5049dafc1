#include "component_check.hpp"

#include "tenon/call.hpp"
#include "tenon/cluster.hpp"
#include "tenon/filter.hpp"
#include "tenon/protocol.hpp"
#include "tenon/registry.hpp"
#include "tenon/serializer.hpp"
#include "tenon/service.hpp"
#include "tenon/transport.hpp"

namespace tenon::cli {

void ComponentCheck::run() {
  for (const auto& [name, component] : options_.registries) one(Registry::kind, component, "registries." + name);
  for (const auto& [kind, components] : options_.components)
    for (const auto& [name, component] : components) one(kind, component, "components." + kind + "." + name);
  server();
  for (const auto& [name, options] : options_.client.references) reference("client.references." + name, options);
}

void ComponentCheck::server() {
  for (std::size_t i = 0; i < options_.server.listen.size(); ++i) {
    const ListenOptions& listen = options_.server.listen[i];
    const std::string path = "server.listen[" + std::to_string(i) + "]";
    one(Transport::kind, listen.transport, path);
    each(Protocol::kind, listen.protocols, path + ".protocols");
  }
  for (std::size_t i = 0; i < options_.server.services.size(); ++i) {
    const ServiceOptions& service = options_.server.services[i];
    each(Filter::kind, service.filters, "server.services[" + std::to_string(i) + "].filters");
    if (!host_.catalog().find(Service::kind, service.name) && !is_named(Service::kind, service.name))
      not_from_plugins_.push_back(service.name);
  }
}

void ComponentCheck::reference(const std::string& path, const ReferenceOptions& reference) {
  one(Transport::kind, reference.transport, path + ".transport");
  one(Protocol::kind, reference.protocol, path + ".protocol");
  one(Serializer::kind, reference.serializer, path + ".serializer");
  if (reference.compress) one(Compressor::kind, reference.compress, path + ".compress");
  one(Cluster::kind, reference.cluster, path + ".cluster");
  each(Router::kind, reference.router, path + ".router");
  one(Balancer::kind, reference.balancer, path + ".balancer");
  one(HaStrategy::kind, reference.ha, path + ".ha");
  each(Filter::kind, reference.filters, path + ".filters");
  each(Filter::kind, reference.attempt_filters, path + ".attempt_filters");
}

void ComponentCheck::each(std::string_view kind, const std::vector<Component>& components, const std::string& path) {
  for (std::size_t i = 0; i < components.size(); ++i) one(kind, components[i], path + "[" + std::to_string(i) + "]");
}

void ComponentCheck::one(std::string_view kind, const Component& component, const std::string& path) {
  if (Result<std::shared_ptr<void>> checked = build(kind, component, path); !checked.ok())
    complaint_(checked.error().text());
}

bool ComponentCheck::is_named(std::string_view kind, const std::string& name) const {
  if (kind == Registry::kind && options_.registries.contains(name)) return true;
  if (kind == Invoker::kind && options_.client.references.contains(name)) return true;
  const auto of_kind = options_.components.find(std::string(kind));
  return of_kind != options_.components.end() && of_kind->second.contains(name);
}

// "file:line:col: path". A component that is not written stands where what holds it does.
std::string ComponentCheck::where(const Component& component, const std::string& path) {
  if (component.place()) return manifest::at(*component.place()) + ": " + path;
  if (!document_) return path;
  std::string holder = path;
  while (!holder.empty()) {
    if (const manifest::Node* node = document_->find(holder))
      return manifest::at(manifest::Place{document_, node, holder}) + ": " + path;
    const std::size_t end = holder.find_last_of(".[");
    holder.resize(end == std::string::npos ? 0 : end);
  }
  return document_->file + ": " + path;
}

Result<std::shared_ptr<void>> ComponentCheck::build(std::string_view kind, const Component& component,
                                                    const std::string& path) {
  const auto refuse = [&](const std::string& what) {
    return Error(Errc::config, where(component, path) + ": " + what, Delivery::not_run);
  };
  if (component.place()) document_ = component.place()->document;
  if (!component) return refuse("no " + std::string(kind) + " is chosen");
  if (component.bare() && is_named(kind, component.use())) return std::shared_ptr<void>();
  const plugin_host::LoadedEntry* entry = host_.catalog().find(kind, component.use());
  if (!entry) return refuse(host_.why_missing(kind, component.use()));
  if (component.bare() || !component.place()) return std::shared_ptr<void>();
  const MessageType& type = *entry->entry.options;
  const auto destroy = [&type](void* object) { type.destroy(object); };
  const std::unique_ptr<void, decltype(destroy)> object(type.create(), destroy);
  manifest::Diagnostics diagnostics(component.place()->document->file);
  manifest::ManifestReader reader(*component.place(), diagnostics, this, component.own_keys());
  reader.read(type, object.get());
  if (!diagnostics.empty()) return Error(Errc::config, diagnostics.text(), Delivery::not_run);
  return std::shared_ptr<void>();
}

}  // namespace tenon::cli
