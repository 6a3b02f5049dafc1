#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent.hpp"
#include "answers.hpp"
#include "registration.hpp"
#include "tenon/registry.hpp"

namespace tenon::consul {

/// Reads and writes what Consul has, for tools. Threads: the executor's. Ownership: shares the agent.
/// Fails with: unavailable (no agent within connect_timeout, no leader), permission_denied (the token), and as
/// RegistryAdmin says.
class ConsulAdmin final : public RegistryAdmin {
 public:
  explicit ConsulAdmin(std::shared_ptr<Agent> agent) : agent_(std::move(agent)) {}

  /// A service with consumers only has the version they want.
  Task<Result<std::vector<ServiceName>>> services() override;
  Task<Result<std::vector<Instance>>> instances(const ServiceName& service) override;
  /// Ours; Motan's consumers leave no trace in Consul.
  Task<Result<std::vector<Subscriber>>> subscribers(const ServiceName& service) override;
  Task<Result<std::vector<std::string>>> groups() override;
  Task<Result<Document>> read(const std::string& kind, const std::string& group) override;
  Task<Result<void>> write(const Document& document) override;
  Task<Result<void>> remove(const Document& document) override;
  Task<Result<void>> set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight) override;
  /// Of a provider of Motan's only our consumers heed it.
  Task<Result<void>> set_serving(const ServiceName& service, const std::string& id, bool serving) override;

 private:
  using Change = std::function<void(Word&)>;
  static Task<Result<void>> connect(std::shared_ptr<Agent> agent);
  static Task<Result<std::vector<Registered>>> listed(std::shared_ptr<Agent> agent, std::string service);
  static Task<Result<std::vector<std::string>>> names(std::shared_ptr<Agent> agent);
  static Task<Result<std::vector<Provider>>> providers(std::shared_ptr<Agent> agent, ServiceName service);
  static Task<Result<std::vector<ServiceName>>> list_services(std::shared_ptr<Agent> agent);
  static Task<Result<std::vector<Instance>>> list_instances(std::shared_ptr<Agent> agent, ServiceName service);
  static Task<Result<std::vector<Subscriber>>> list_subscribers(std::shared_ptr<Agent> agent, ServiceName service);
  static Task<Result<std::vector<std::string>>> list_groups(std::shared_ptr<Agent> agent);
  static Task<Result<Document>> fetch(std::shared_ptr<Agent> agent, std::string kind, std::string group);
  static Task<Result<void>> store(std::shared_ptr<Agent> agent, Document document);
  static Task<Result<void>> erase(std::shared_ptr<Agent> agent, Document document);
  static Task<Result<void>> say(std::shared_ptr<Agent> agent, ServiceName service, std::string id, Change change);

  const std::shared_ptr<Agent> agent_;
};

}  // namespace tenon::consul
