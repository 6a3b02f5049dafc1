#pragma once
#include <memory>
#include <string>

#include "directory.hpp"
#include "tenon/catalog.hpp"
#include "tenon/registry.hpp"

namespace tenon::inprocess {

struct MemoryRegistryOptions {
  std::string name = "default";
};
BOOST_DESCRIBE_STRUCT(MemoryRegistryOptions, (), (name))

/// Registry "memory": finds what is announced in this process, by this and every other registry of the same name.
class MemoryRegistry final : public Registry {
 public:
  using Options = MemoryRegistryOptions;
  /// Fails with: config (no name).
  static Result<std::unique_ptr<MemoryRegistry>> create(Options options, Environment environment);

  /// Fails with: config (no interface, id or address; an id that is announced already).
  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName& service, Instance instance) override;
  Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) override;
  Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string& group,
                                                DocumentObserver observer) override;
  RegistryAdmin* admin() noexcept override { return &admin_; }

 private:
  class Admin final : public RegistryAdmin {
   public:
    explicit Admin(Directory& directory) : directory_(directory) {}
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
    Directory& directory_;
  };

  MemoryRegistry(std::shared_ptr<Directory> directory, Executor& executor)
      : directory_(std::move(directory)), executor_(executor), admin_(*directory_) {}
  Result<std::unique_ptr<Lease>> announce_now(const ServiceName& service, Instance instance);

  const std::shared_ptr<Directory> directory_;
  Executor& executor_;
  Admin admin_;
};

}  // namespace tenon::inprocess

template <>
struct tenon::Describe<tenon::inprocess::MemoryRegistryOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("name", "registries of one name in a process share what is announced"));
};
