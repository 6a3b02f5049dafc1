// The admin service of an App: tenon.Admin on a unix socket.
#include "admin/admin_server.hpp"
#include "app/parts.hpp"
#include "defaults.hpp"

namespace tenon {

Result<void> App::Parts::open_admin() {
  const AdminOptions& chosen = *options.admin;
  admin::AdminServer::Parts parts;
  parts.address = chosen.listen;
  parts.log = log.get();
  auto transport = builder->make<Transport>(Component(defaults::transport), "admin.listen");
  if (!transport.ok()) return std::move(transport).error();
  parts.transport = std::move(*transport);
  for (std::size_t at = 0; at < chosen.protocols.size(); ++at) {
    auto protocol = builder->make<Protocol>(chosen.protocols[at], "admin.protocols[" + std::to_string(at) + "]");
    if (!protocol.ok()) return std::move(protocol).error();
    parts.protocols.push_back(std::move(*protocol));
  }
  auto known = encodings(admin::AdminServer::max_frame);
  if (!known.ok()) return std::move(known).error();
  parts.encodings = std::move(*known);
  auto started = admin::AdminServer::start(std::move(parts), facts_);
  if (!started.ok()) return std::move(started).error().prefix("admin.listen");
  admin_ = std::move(*started);
  log->info("admin", "tenon.Admin on " + chosen.listen);
  return {};
}

}  // namespace tenon
