#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// Several routers as one: the first chooses among all members, each further one among those the routers before it
/// chose. Groups that a further router asks for are its own affair: those before do not see them, and it has them
/// beside whatever was chosen. Each is given the documents of its kinds. Threads: the reference's executor.
class RouterChain final : public Router {
 public:
  /// The only one itself; null: there are none.
  static std::shared_ptr<Router> of(const std::vector<std::shared_ptr<Router>>& routers);

  std::shared_ptr<Router> for_service(const ServiceName& service) override;
  std::vector<std::string> document_kinds() const override;
  Result<std::vector<std::string>> groups(const std::vector<Document>& documents) override;
  Result<std::unique_ptr<Table>> compile(const Members& members, const std::vector<Document>& documents) override;

 private:
  RouterChain(std::shared_ptr<Router> first, std::shared_ptr<Router> rest, std::string own_group)
      : first_(std::move(first)), rest_(std::move(rest)), own_group_(std::move(own_group)) {}
  const std::shared_ptr<Router> first_;
  const std::shared_ptr<Router> rest_;  // the second, or a chain again
  const std::string own_group_;         // of the service, once it is known
};

}  // namespace tenon::cluster
