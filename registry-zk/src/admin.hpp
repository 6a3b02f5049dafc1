#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layout.hpp"
#include "node_text.hpp"
#include "options.hpp"
#include "session.hpp"
#include "tenon/registry.hpp"

namespace tenon::zk {

/// Reads and writes what is in ZooKeeper, for tools. Nodes of others are changed in place, so they stay theirs.
/// Threads: the executor's. Fails with: unavailable, when there is no connection within connect_timeout.
class ZkAdmin final : public RegistryAdmin {
 public:
  ZkAdmin(Session& session, const Layout& layout, CommandEncoding encoding)
      : session_(session), layout_(layout), encoding_(encoding) {}

  /// A service without a provider has an empty version.
  Task<Result<std::vector<ServiceName>>> services() override;
  Task<Result<std::vector<Instance>>> instances(const ServiceName& service) override;
  Task<Result<std::vector<Subscriber>>> subscribers(const ServiceName& service) override;
  /// Those with a node for a service or for commands; what else stands below the root is none.
  Task<Result<std::vector<std::string>>> groups() override;
  Task<Result<Document>> read(const std::string& kind, const std::string& group) override;
  Task<Result<void>> write(const Document& document) override;
  /// A command node with other documents below it cannot go: it gets an empty text.
  Task<Result<void>> remove(const Document& document) override;
  /// Holds until the provider's own next update, across its sessions.
  Task<Result<void>> set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight) override;
  /// The same. A provider of ours moves its node to the other folder, where Motan's clients do not look, or do again; a
  /// foreign one does not know the mark, so that only our consumers heed it.
  Task<Result<void>> set_serving(const ServiceName& service, const std::string& id, bool serving) override;

 private:
  using Nodes = std::vector<std::pair<std::string, Reply>>;  // by name
  /// A folder of providers.
  struct Providers {
    std::string path;
    bool serves;
    Nodes nodes;
  };
  Task<Result<void>> connect();
  /// Empty when there is no such folder.
  Task<Result<std::vector<std::string>>> names(std::string path);
  Task<Result<Nodes>> nodes(std::string folder);
  /// Both folders of a service as they are at one moment, so that who moves from one to the other is in one of them.
  Task<Result<std::vector<Providers>>> providers(ServiceName service);
  Task<Result<void>> add_versions(std::string path, ServiceName service, std::vector<ServiceName>& found);
  Task<Result<std::vector<Instance>>> list_instances(ServiceName service);
  Task<Result<std::vector<Subscriber>>> list_subscribers(ServiceName service);
  Task<Result<bool>> is_group(std::string path);
  Task<Result<Document>> read_document(std::string kind, std::string group);
  Task<Result<void>> write_document(Document document);
  Task<Result<void>> create_document(std::string path, Document document);
  Task<Result<void>> remove_document(Document document);
  /// What a provider's node says in future: its data, its name, and whether its folder is the serving one.
  using Change = std::function<Result<std::string>(std::string_view data, std::string_view name, bool folder_serves)>;
  Task<Result<void>> change(ServiceName service, std::string id, Change what);
  Task<TextEncoding> encoding_for(std::string group);

  Session& session_;
  const Layout& layout_;
  const CommandEncoding encoding_;
};

/// Fails with: config (no kind, or one that is no name).
Result<void> check_document(const std::string& kind, const std::string& group);

}  // namespace tenon::zk
