#include "routing/router.hpp"

#include <algorithm>
#include <random>

#include "routing/table.hpp"
#include "traffic/router.hpp"

namespace tenon::cluster::routing {

namespace {

Error refuse(const std::string& why) { return Error(Errc::config, why, Delivery::not_run, Advice::never); }

bool asks_application(const CompiledRule& rule) {
  return std::any_of(rule.here.begin(), rule.here.end(),
                     [](const Predicate& each) { return each.attribute() == Attribute::application; });
}

}  // namespace

Result<std::unique_ptr<RulesRouter>> RulesRouter::create(Options options, Environment) {
  for (const std::string& address : options.addresses)
    if (!traffic::Ip::parse(address)) return refuse("addresses: \"" + address + "\" is no IP address");
  auto fixed = compile_rules({options.groups, options.rules}, "");
  if (!fixed.ok()) return refuse(fixed.error().text());
  std::vector<std::string> client = options.addresses.empty() ? traffic::own_addresses() : options.addresses;
  return std::unique_ptr<RulesRouter>(new RulesRouter(std::make_shared<CompiledRules>(std::move(*fixed)),
                                                      std::move(client), std::move(options.application), {}));
}

RulesRouter::RulesRouter(std::shared_ptr<const CompiledRules> fixed, std::vector<std::string> client,
                         std::string application, ServiceName service)
    : fixed_(std::move(fixed)), client_(std::move(client)), here_{std::move(service), std::move(application), {}} {
  for (const std::string& address : client_) here_.client.push_back({address, {}, traffic::Ip::parse(address)});
}

std::shared_ptr<Router> RulesRouter::for_service(const ServiceName& service) {
  return std::shared_ptr<Router>(new RulesRouter(fixed_, client_, here_.application, service));
}

Result<const RulesRouter::Joined*> RulesRouter::read(const std::vector<Document>& documents) {
  std::vector<std::string> texts;
  for (const Document& document : documents)
    if (document.kind == "rule") texts.push_back(document.text);
  if (joined_ && joined_->texts == texts) return &*joined_;
  Joined joined;
  auto rules = std::make_shared<std::vector<CompiledRule>>();
  const auto add = [&](CompiledRules more) {
    for (CompiledRule& rule : more.rules) rules->push_back(std::move(rule));
    joined.groups.insert(more.groups.begin(), more.groups.end());
  };
  for (const std::string& text : texts) {
    auto parsed = parse_rules(text);
    if (!parsed.ok()) return std::move(parsed).error();
    add(std::move(*parsed));
  }
  add(*fixed_);
  joined.groups.erase(here_.service.group);
  if (here_.application.empty())
    if (const auto asks = std::find_if(rules->begin(), rules->end(), asks_application); asks != rules->end())
      joined.complaints.push_back(asks->name + " asks for the application, which router rules has as an option");
  joined.texts = std::move(texts);
  joined.rules = std::move(rules);
  joined_ = std::move(joined);
  return &*joined_;
}

Result<std::vector<std::string>> RulesRouter::groups(const std::vector<Document>& documents) {
  auto joined = read(documents);
  if (!joined.ok()) return std::move(joined).error();
  return std::vector<std::string>((*joined)->groups.begin(), (*joined)->groups.end());
}

Result<std::unique_ptr<Router::Table>> RulesRouter::compile(const Members& members,
                                                            const std::vector<Document>& documents) {
  if (here_.service.interface.empty()) return refuse("router rules: for_service() comes first");
  auto joined = read(documents);
  if (!joined.ok()) return std::move(joined).error();
  std::random_device random;
  const std::uint64_t start = std::uint64_t{random()} << 32 | random();
  auto table = RulesTable::make((*joined)->rules, here_, (*joined)->groups, members, (*joined)->complaints, start);
  if (!table.ok()) return std::move(table).error();
  return std::unique_ptr<Table>(std::move(*table));
}

}  // namespace tenon::cluster::routing
