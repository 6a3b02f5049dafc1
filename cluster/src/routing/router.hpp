#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "routing/compiled_rule.hpp"
#include "routing/rule.hpp"
#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster::routing {

/// Router "rules": an ordered list of rules, those of the documents of kind "rule" of the service's own group before
/// those of the manifest. The first that is about a call and has somebody who can take it decides; a call that no rule
/// decides goes to anybody but the groups that rules brought in.
class RulesRouter final : public Router {
 public:
  using Options = RulesOptions;
  /// Fails with: config (a rule or an address that is none, naming rule and field).
  static Result<std::unique_ptr<RulesRouter>> create(Options options, Environment environment);

  std::shared_ptr<Router> for_service(const ServiceName& service) override;
  std::vector<std::string> document_kinds() const override { return {"rule"}; }
  /// Fails with: malformed, invalid_argument, too_large (a document).
  Result<std::vector<std::string>> groups(const std::vector<Document>& documents) override;
  /// Without members only the documents are looked at: what tools check.
  /// Fails with: as groups(); config (made for no service).
  Result<std::unique_ptr<Table>> compile(const Members& members, const std::vector<Document>& documents) override;

 private:
  /// Documents and manifest as one, for as long as the documents stay the same.
  struct Joined {
    std::vector<std::string> texts;
    std::shared_ptr<const std::vector<CompiledRule>> rules;
    std::set<std::string> groups;
    std::vector<std::string> complaints;
  };
  RulesRouter(std::shared_ptr<const CompiledRules> fixed, std::vector<std::string> client, std::string application,
              ServiceName service);
  Result<const Joined*> read(const std::vector<Document>& documents);

  const std::shared_ptr<const CompiledRules> fixed_;  // of the manifest
  const std::vector<std::string> client_;             // this host's addresses
  Here here_;
  std::optional<Joined> joined_;
};

}  // namespace tenon::cluster::routing
