// Reads the input as a rule document and routes odd calls over odd instances with it. Checked here: everything stays
// within its bounds, every choice is a subset there is, following a call ends, and explaining agrees with choosing.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "routing/compiled_rule.hpp"
#include "routing/table.hpp"

namespace {

using namespace tenon;                    // NOLINT
using namespace tenon::cluster;           // NOLINT
using namespace tenon::cluster::routing;  // NOLINT

void require(bool holds) {
  if (!holds) std::abort();
}

class Listed final : public Endpoint {
 public:
  Listed(Instance instance, Health health) : instance_(std::move(instance)), health_(health) {}
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return stats_; }
  Health health() const noexcept override { return health_; }
  Task<Result<Response>> call(Request&) override {
    return ready(Result<Response>(Error(Errc::unavailable, "only listed", Delivery::not_run)));
  }

 private:
  const Instance instance_;
  const Health health_;
  const Stats stats_;
};

std::shared_ptr<Endpoint> listed(const char* id, const char* address, const char* group, Health health,
                                 std::map<std::string, std::string> metadata, std::uint32_t weight = 100) {
  Instance instance;
  instance.id = id;
  instance.transport = "tcp";
  instance.address = address;
  instance.group = group;
  instance.metadata = std::move(metadata);
  instance.weight = weight;
  return std::make_shared<Listed>(std::move(instance), health);
}

const Members& members() {
  static const Members all{
      listed("a", "10.0.0.1:4080", "own", Health::open, {{"role", "replica"}, {"tag", "red"}}),
      listed("b", "[fd00::1]:4080", "own", Health::closed, {{"role", "primary"}, {"tag", ""}}),
      listed("c", "tokyo-1:4080", "backup", Health::open, {}),
      listed("d", "", "own", Health::busy, {{"tag", "red"}}, 0),
  };
  return all;
}

void check_calls(const RulesTable& table, const ServiceName& service) {
  for (const std::string_view name : {"", "getUser", "x"})
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}})
      for (const char* tag : {"", "red"}) {
        Method method;
        method.name = name;
        const Target target{&service, &method};
        Request request(target);
        request.hash_key = key;
        if (*tag) request.headers.set("tag", tag);
        const int first = table.choose(request);
        std::size_t steps = 0;
        for (int subset = first; subset >= 0; subset = table.next(request, subset)) {
          require(static_cast<std::size_t>(subset) < table.subsets().size());
          require(++steps <= table.subsets().size());
        }
        for (const auto& member : members()) {
          require(!table.explain(request, *member).empty());
          if (key == 0 || first < 0) continue;  // with a key the choice is the same every time
          const Members& chosen = table.subsets()[static_cast<std::size_t>(first)];
          const bool here = std::find(chosen.begin(), chosen.end(), member) != chosen.end();
          if (here) require(table.serving(request, *member) == Serving::yes);
        }
      }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = parse_rules(text);
  if (!parsed.ok()) {
    require(!parsed.error().text().empty());
    return 0;
  }
  const RuleLimits limits;
  require(parsed->rules.size() <= limits.rules && parsed->groups.size() <= limits.groups);
  for (const CompiledRule& rule : parsed->rules)
    require(rule.to.size() <= limits.conditions && rule.here.size() + rule.each_call.size() <= limits.conditions);
  const Here here{{"demo.Users", "own", ""}, "", {traffic::Place::of("10.1.1.1")}};
  const std::set<std::string> others(parsed->groups.begin(), parsed->groups.end());
  const auto rules = std::make_shared<std::vector<CompiledRule>>(std::move(parsed->rules));
  const auto table = RulesTable::make(rules, here, others, members(), {}, 1);
  if (table.ok()) check_calls(**table, here.service);
  return 0;
}
