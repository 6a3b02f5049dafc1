#pragma once
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chain/filter_chain.hpp"
#include "tenon/service.hpp"

namespace tenon {

class Pool;

/// One service as a server offers it: its name, its filters, its methods by name.
class Offered {
 public:
  /// `pools`: where each method runs, by its index; null, or none at all: on the connection's thread.
  Offered(ServiceName name, std::shared_ptr<Service> service, std::vector<std::shared_ptr<Filter>> filters,
          std::vector<Pool*> pools = {});
  Offered(const Offered&) = delete;
  Offered& operator=(const Offered&) = delete;

  const ServiceName& name() const noexcept { return name_; }
  Service& service() const noexcept { return *service_; }
  /// Where calls enter: the outermost filter, or the service itself.
  Invoker& entry() const noexcept { return chain_.first(); }
  bool filtered() const noexcept { return !chain_.empty(); }
  /// Null when there is no such method. `loose`: the first letter's case does not matter where nothing fits exactly.
  const Target* find(std::string_view method, bool loose) const noexcept;
  Pool* pool(const Target& target) const noexcept { return pools_.empty() ? nullptr : pools_[target.index]; }

 private:
  class Innermost final : public Invoker {
   public:
    explicit Innermost(Service& service) : service_(service) {}
    Task<Result<Response>> call(Request& request) override { return service_.call(request); }
    Health health() const noexcept override { return Health::open; }

   private:
    Service& service_;
  };
  ServiceName name_;
  std::shared_ptr<Service> service_;
  std::vector<Target> targets_;
  std::vector<Pool*> pools_;
  Innermost innermost_;
  FilterChain chain_;
};

/// Where a request goes.
struct Route {
  const Offered* offered = nullptr;
  const Target* target = nullptr;
  Pool* pool = nullptr;  ///< null: runs on the connection's thread
};

/// What a request asks for; `loose`: see Frame::loose_names.
struct Wanted {
  std::string_view group, interface, version, method;
  bool loose = false;
};

/// Method -> handler. Filled before the server listens, then immutable: read from every io thread.
class Dispatcher {
 public:
  /// Fails with: already_exists (same interface, group and version).
  Result<void> add(std::unique_ptr<Offered> offered);
  /// Fails with: not_found, saying what there is; unimplemented (a shape that is not served yet).
  Result<Route> find(const Wanted& wanted) const;
  const std::vector<std::unique_ptr<Offered>>& services() const noexcept { return services_; }

 private:
  const Offered* match(const Wanted& wanted) const noexcept;
  const Offered* only(const Wanted& wanted, bool any_group) const noexcept;
  std::vector<std::unique_ptr<Offered>> services_;
};

}  // namespace tenon
