#pragma once
// Router "rules" and chains of routers over scripted endpoints.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "routing/router.hpp"
#include "routing/serving.hpp"
#include "support/cluster_fakes.hpp"
#include "support/manual_executor.hpp"

namespace tenon::cluster::routing {

/// The example of that name in cluster/README.md, as it stands there.
inline std::string readme_example(const std::string& name) {
  std::ifstream readme(CLUSTER_README);
  std::string text;
  bool within = false;
  for (std::string line; std::getline(readme, line);) {
    if (within && line == "```") return text;
    if (within) text += line + '\n';
    within = within || line == "```json rules " + name;
  }
  throw std::runtime_error("cluster/README.md has no rules example " + name);
}

class RoutingTest : public testing::Test {
 protected:
  using Table = std::unique_ptr<Router::Table>;
  using Metadata = std::map<std::string, std::string>;

  /// At `id`:4080, unless `address` says otherwise.
  void add(const std::string& id, Metadata metadata = {}, const std::string& group = "own",
           const std::string& address = {}) {
    Instance instance = fake::instance(id);
    instance.metadata = std::move(metadata);
    instance.group = group;
    if (!address.empty()) instance.address = address;
    members.push_back(std::make_shared<fake::ScriptedEndpoint>(std::move(instance)));
  }
  fake::ScriptedEndpoint& endpoint(const std::string& id) const {
    for (const auto& member : members)
      if (member->instance().id == id) return static_cast<fake::ScriptedEndpoint&>(*member);
    throw std::runtime_error("no " + id);
  }
  void close(const std::string& id) { endpoint(id).state = Health::closed; }

  std::shared_ptr<Router> rules_router() {
    auto made = RulesRouter::create(options, Environment{executor, log, executor.clock()});
    EXPECT_TRUE(made.ok()) << made.error().text();
    return (*made)->for_service(service);
  }
  static Document document(const std::string& text) { return {"rule", "own", text, 1}; }
  /// A table of this document, over `members`.
  Table rules(const std::string& text) {
    auto table = rules_router()->compile(members, {document(text)});
    EXPECT_TRUE(table.ok()) << table.error().text();
    return table.ok() ? std::move(*table) : nullptr;
  }
  static std::string ids(const Router::Table& table, int subset) {
    if (subset < 0) return "nobody";
    std::string all;
    for (const auto& member : table.subsets()[static_cast<std::size_t>(subset)]) all += member->instance().id;
    return all;
  }
  /// Whom the call goes to, then where it goes on: "ab c".
  std::string way(const Router::Table& table) const {
    int subset = table.choose(request);
    std::string all = ids(table, subset);
    for (std::size_t i = 0; i < table.subsets().size() && subset >= 0; ++i) {
      subset = table.next(request, subset);
      if (subset >= 0) all += ' ' + ids(table, subset);
    }
    return all;
  }
  std::string first(const Router::Table& table) const { return ids(table, table.choose(request)); }
  /// How many of so many calls each subset gets.
  std::map<std::string, int> counts(const Router::Table& table, int calls) const {
    std::map<std::string, int> all;
    for (int i = 0; i < calls; ++i) ++all[first(table)];
    return all;
  }
  std::string why(const Router::Table& table, const std::string& id) const {
    return table.explain(request, endpoint(id));
  }
  Serving serves(const Router::Table& table, const std::string& id) const {
    return serving(table, request, endpoint(id));
  }
  void call(const std::string& name) { named = name, method.name = named; }

  test::ManualExecutor executor;
  fake::ListLog log;
  RulesOptions options;
  Members members;
  ServiceName service{"demo.Users", "own", "1.0"};
  std::string named = "getUser";
  Method method{named};
  Target target{&service, &method};
  Request request{target};
};

}  // namespace tenon::cluster::routing
