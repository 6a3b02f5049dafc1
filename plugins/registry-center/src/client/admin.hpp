#pragma once
#include <memory>
#include <string>
#include <vector>

#include "session.hpp"
#include "tenon/registry.hpp"

namespace tenon::center {

/// Reads and writes what a center has, for tools. Threads: the executor's. Ownership: shares the session.
/// Fails with: unavailable (no center within `patience`), permission_denied (it wants the operators' token), and as
/// RegistryAdmin says.
class CenterAdmin final : public RegistryAdmin {
 public:
  CenterAdmin(std::shared_ptr<Session> session, Duration patience)
      : session_(std::move(session)), patience_(patience) {}

  Task<Result<std::vector<ServiceName>>> services() override;
  Task<Result<std::vector<Instance>>> instances(const ServiceName& service) override;
  Task<Result<std::vector<Subscriber>>> subscribers(const ServiceName& service) override;
  Task<Result<std::vector<std::string>>> groups() override;
  Task<Result<Document>> read(const std::string& kind, const std::string& group) override;
  Task<Result<void>> write(const Document& document) override;
  Task<Result<void>> remove(const Document& document) override;
  Task<Result<void>> set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight) override;
  Task<Result<void>> set_serving(const ServiceName& service, const std::string& id, bool serving) override;

 private:
  const std::shared_ptr<Session> session_;
  const Duration patience_;
};

}  // namespace tenon::center
