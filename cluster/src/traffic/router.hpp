#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"
#include "traffic/command.hpp"
#include "traffic/reasons.hpp"

namespace tenon::cluster::traffic {

enum class OnEmpty { keep, fail };
BOOST_DESCRIBE_ENUM(OnEmpty, keep, fail)

struct TrafficOptions {
  OnEmpty on_empty = OnEmpty::keep;
  std::vector<std::string> mix_groups;
  std::string default_group = "default_rpc";
  std::vector<std::string> addresses;
};
BOOST_DESCRIBE_STRUCT(TrafficOptions, (), (on_empty, mix_groups, default_group, addresses))

/// Router "traffic": carries out the commands of the service's own group (documents of kind "command"). One command
/// applies, the first that matches the service; without one the own group serves.
class TrafficRouter final : public Router {
 public:
  using Options = TrafficOptions;
  /// Fails with: config (an address that is none, a bad group name).
  static Result<std::unique_ptr<TrafficRouter>> create(Options options, Environment environment);

  std::shared_ptr<Router> for_service(const ServiceName& service) override;
  std::vector<std::string> document_kinds() const override { return {"command"}; }
  /// Fails with: malformed, too_large (a document).
  Result<std::vector<std::string>> groups(const std::vector<Document>& documents) override;
  /// With on_empty: fail, a table of no members has the documents' own complaints and no others: what tools check.
  /// Fails with: malformed, too_large (a document); unavailable (the command leaves nobody, on_empty: keep); config
  /// (made for no service).
  Result<std::unique_ptr<Table>> compile(const Members& members, const std::vector<Document>& documents) override;

 private:
  TrafficRouter(Options options, std::vector<std::string> client, ServiceName service);
  Result<CommandList> read(const std::vector<Document>& documents) const;
  /// The group as Instance::group has it.
  std::string group_of(const MergeGroup& merged) const;
  /// Of the service: the command in force; null: none.
  const Command* command(const CommandList& list) const noexcept;
  Reasons reasons(const Command* in_force) const;

  const Options options_;
  const std::vector<std::string> client_;  // this host's addresses
  const std::vector<Place> places_;        // the same, taken apart
  const ServiceName service_;
  Command fixed_;  // what mix_groups mean
};

/// This host's addresses as a peer may know them, without loopback.
std::vector<std::string> own_addresses();

}  // namespace tenon::cluster::traffic

template <>
struct tenon::Describe<tenon::cluster::traffic::TrafficOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("on_empty", "when a command leaves no instance: keep those before, or fail the calls"),
      tenon::member("mix_groups", "groups that serve besides the own one as long as no command applies"),
      tenon::member("default_group", "what commands call the group of services that name none"),
      tenon::member("addresses", "this host's, for route rules; default: those of its network interfaces"));
};
