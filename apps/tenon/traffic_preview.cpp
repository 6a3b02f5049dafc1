#include "traffic_preview.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenon::cli {

namespace {

constexpr const char* command_kind = "command";
constexpr const char* any_address = "0.0.0.0";  // of a client that only rules for everybody concern
/// Calls that are tried out. Enough for the router's even spreading to be exact to a step of 1/10000.
constexpr int calls = 200'000;
constexpr double steps = 10'000;

/// An instance of the registry, to be chosen and never called.
class Listed final : public Endpoint {
 public:
  explicit Listed(Instance instance) : instance_(std::move(instance)) {}
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return stats_; }
  Health health() const noexcept override { return Health::open; }
  Task<Result<Response>> call(Request&) override {
    return ready(Result<Response>(Error(Errc::unavailable, instance_.address + " is only listed", Delivery::not_run)));
  }

 private:
  const Instance instance_;
  const Stats stats_;
};

// As a text of YAML.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

bool takes_calls(const Instance& instance) noexcept { return instance.serving && instance.weight > 0; }

// Adds `share` of the calls to those of a subset, by their weights.
void spread(const Members& subset, double share, const Members& members, std::vector<double>& shares) {
  double total = 0;
  for (const auto& member : subset)
    if (takes_calls(member->instance())) total += member->instance().weight;
  for (const auto& member : subset) {
    if (!takes_calls(member->instance())) continue;
    const auto place = std::find(members.begin(), members.end(), member) - members.begin();
    shares[static_cast<std::size_t>(place)] += share * member->instance().weight / total;
  }
}

std::vector<double> tried_out(const Router::Table& table, const Members& members, const ServiceName& service) {
  Target target;
  target.service = &service;
  const Request request(target);
  const auto subsets = table.subsets();
  std::vector<int> chosen(subsets.size());
  const int tries = subsets.size() > 1 ? calls : 1;
  for (int i = 0; i < tries; ++i) {
    const int subset = table.choose(request);
    if (subset >= 0) ++chosen[static_cast<std::size_t>(subset)];
  }
  std::vector<double> shares(members.size());
  for (std::size_t i = 0; i < subsets.size(); ++i)
    spread(subsets[i], std::round(chosen[i] * steps / tries) / steps, members, shares);
  return shares;
}

std::vector<std::pair<std::string, double>> by_instance(const Shares& shares) {
  std::vector<std::pair<std::string, double>> all;
  for (const InstanceShare& each : shares.instances)
    if (each.share > 0) all.emplace_back(each.instance.group + '/' + each.instance.id, each.share);
  std::sort(all.begin(), all.end());
  return all;
}

bool same(const Shares& a, const Shares& b) { return by_instance(a) == by_instance(b) && a.trouble == b.trouble; }

}  // namespace

bool Shares::served() const noexcept {
  return std::any_of(instances.begin(), instances.end(), [](const InstanceShare& each) { return each.share > 0; });
}

bool Preview::changes() const { return !same(now, then); }

Result<std::shared_ptr<Router>> TrafficPreview::router_for(const ServiceName& service, const std::string& client) {
  const std::string address = client.empty() ? any_address : client;
  auto options =
      parse_manifest("--client", "components: { router: { preview: { use: traffic, on_empty: fail, addresses: [" +
                                     quoted(address) + "] } } }");
  if (!options.ok()) return std::move(options).error();
  auto router = registry_.app().router(options->components.at("router").at("preview"));
  if (!router.ok()) return router;
  std::shared_ptr<Router> made = std::move(*router);
  if (auto own = made->for_service(service)) made = std::move(own);
  return made;
}

Result<std::vector<std::string>> TrafficPreview::complaints(const std::string& text) {
  auto router = router_for({"any.Service", "", ""}, {});
  if (!router.ok()) return std::move(router).error();
  // Without members a table's complaints are the document's alone.
  auto table = (*router)->compile({}, {Document{command_kind, "", text, 1}});
  if (!table.ok()) return std::move(table).error();
  const auto said = (*table)->complaints();
  return std::vector<std::string>(said.begin(), said.end());
}

Result<const std::vector<Instance>*> TrafficPreview::known(const ServiceName& service) {
  const std::string name = service.text();
  if (const auto found = known_.find(name); found != known_.end()) return &found->second;
  auto instances = registry_.instances(service);
  if (!instances.ok()) return std::move(instances).error();
  for (Instance& each : *instances) each.group = service.group;
  std::sort(instances->begin(), instances->end(),
            [](const Instance& a, const Instance& b) { return std::tie(a.address, a.id) < std::tie(b.address, b.id); });
  return &known_.emplace(name, std::move(*instances)).first->second;
}

Result<Shares> TrafficPreview::shares(const ServiceName& service, const std::string& client, const std::string& text) {
  auto router = router_for(service, client);
  if (!router.ok()) return std::move(router).error();
  std::vector<Document> documents{{command_kind, service.group, text, 1}};
  Shares shares;
  auto groups = (*router)->groups(documents);
  if (!groups.ok()) {
    shares.trouble = groups.error().text();
    documents.clear();
    groups = std::vector<std::string>();
  }
  groups->insert(groups->begin(), service.group);
  Members members;
  for (const std::string& group : *groups) {
    auto instances = known({service.interface, group, service.version});
    if (!instances.ok()) return std::move(instances).error();
    for (const Instance& instance : **instances) members.push_back(std::make_shared<Listed>(instance));
  }
  auto table = (*router)->compile(members, documents);
  std::vector<double> each(members.size());
  if (table.ok())
    each = tried_out(**table, members, service);
  else
    shares.trouble = table.error().text();
  for (std::size_t i = 0; i < members.size(); ++i) shares.instances.push_back({members[i]->instance(), each[i]});
  return shares;
}

Result<std::vector<Preview>> TrafficPreview::of(const ServiceName& service, const std::vector<std::string>& clients,
                                                const std::string& now, const std::string& then) {
  std::vector<Preview> previews;
  for (const std::string& client : clients) {
    Preview made{service, {client}, {}, {}};
    for (auto [text, into] : {std::pair(&now, &made.now), std::pair(&then, &made.then)}) {
      auto found = shares(service, client, *text);
      if (!found.ok()) return std::move(found).error();
      *into = std::move(*found);
    }
    const auto alike = std::find_if(previews.begin(), previews.end(), [&](const Preview& other) {
      return same(other.now, made.now) && same(other.then, made.then);
    });
    if (alike == previews.end())
      previews.push_back(std::move(made));
    else
      alike->clients.push_back(client);
  }
  return previews;
}

}  // namespace tenon::cli
