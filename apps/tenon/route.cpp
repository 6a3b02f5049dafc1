// tenon route: which instances a call would reach, and why.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "command.hpp"
#include "command_document.hpp"
#include "manifest/scalar.hpp"
#include "table.hpp"
#include "target.hpp"
#include "tenon/app.hpp"
#include "tenon/route_explanation.hpp"

namespace tenon::cli {
namespace {

constexpr const char* who = "route explain";

struct ExplainCommand {
  TargetOptions target;
  std::string method;
  std::vector<std::string> headers;
  std::uint64_t hash_key = 0;
  std::string instance;
  std::string patience = "2s";
  bool json = false;
};

constexpr const char* footer =
    "Examples:\n"
    "  tenon route explain --manifest client.yaml --reference users --method getUser\n"
    "\n"
    "Exit codes: 0 somebody would be called, 1 nobody, or the reference is not ready, 2 wrong command line or manifest";

constexpr const char* explain_footer =
    "Asks the tables that route the calls of the manifest's reference, with what its registries and connections say\n"
    "now: traffic commands, routing rules, weights, health. Nothing is sent to anybody's service. Filters do not run:\n"
    "give the headers as they are behind them.\n"
    "\n"
    "CALLED is yes (also when only a share of such calls goes there), or no. WHY says what decides, one reason a "
    "line.\n"
    "\n"
    "Examples:\n"
    "  tenon route explain -c client.yaml --reference users --method getUser\n"
    "  tenon route explain -c client.yaml --reference users --method getUser --header tag=red --hash-key 7\n"
    "  tenon route explain -c client.yaml --reference users --method getUser --instance 10.0.0.7:4080 --json\n"
    "\n"
    "Exit codes: 0 somebody would be called, 1 nobody, or the reference is not ready, 2 wrong command line or manifest";

Result<CallFacts> facts_of(const ExplainCommand& command) {
  CallFacts facts;
  facts.method = command.method;
  facts.hash_key = command.hash_key;
  facts.instance = command.instance;
  for (const std::string& header : command.headers) {
    const std::size_t equals = header.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error(Errc::config, "tenon route explain: --header " + header + ": expected NAME=VALUE",
                   Delivery::not_run);
    facts.headers.set(header.substr(0, equals), header.substr(equals + 1));
  }
  return facts;
}

const char* called(const ClusterInvoker::Verdict& verdict) { return verdict.eligible ? "yes" : "no"; }

std::string as_text(const RouteExplanation& told, const std::string& method) {
  std::string text = told.service.text() + "." + method + ", " + std::to_string(told.instances.size()) +
                     (told.instances.size() == 1 ? " instance\n" : " instances\n");
  if (told.instances.empty()) return text;
  Table table({"INSTANCE", "ADDRESS", "GROUP", "CALLED", "WHY"});
  for (const ClusterInvoker::Verdict& verdict : told.instances) {
    std::vector<std::string> cells{verdict.instance, verdict.address, verdict.group, called(verdict), ""};
    constexpr std::string_view between = "; ";
    for (std::string_view rest = verdict.why;;) {
      const std::size_t end = rest.find(between);
      cells.back() = rest.substr(0, end);
      table.row(std::exchange(cells, std::vector<std::string>(cells.size())));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + between.size());
    }
  }
  return text + table.text();
}

std::string as_json(const RouteExplanation& told, const std::string& reference, const std::string& method) {
  std::string json = "{\"reference\":" + json_text(reference) + ",\"service\":" + json_text(told.service.text()) +
                     ",\"method\":" + json_text(method) + ",\"ready\":" + (told.not_ready.empty() ? "true" : "false");
  if (!told.not_ready.empty()) json += ",\"not_ready\":" + json_text(told.not_ready);
  json += ",\"instances\":[";
  for (const ClusterInvoker::Verdict& verdict : told.instances)
    json += std::string(&verdict == &told.instances.front() ? "" : ",") +
            "{\"instance\":" + json_text(verdict.instance) + ",\"address\":" + json_text(verdict.address) +
            ",\"group\":" + json_text(verdict.group) + ",\"called\":" + (verdict.eligible ? "true" : "false") +
            ",\"why\":" + json_text(verdict.why) + "}";
  return json + "]}\n";
}

int explain(const ExplainCommand& command) {
  auto facts = facts_of(command);
  if (!facts.ok()) return complain(who, facts.error());
  Duration patience{0};
  if (const std::string fault = manifest::parse_duration(command.patience, patience); !fault.empty())
    return misused(who, "--patience " + command.patience + ": expected " + fault);
  auto options = client_options(command.target, "");
  if (!options.ok()) return complain(who, options.error());
  ReferenceOptions& reference = options->client.references.at(target_name);
  reference.check = false;  // who is not there is what this is about
  reference.connect_timeout = std::min<Duration>(reference.connect_timeout, patience);
  auto app = App::create(std::move(*options));
  if (!app.ok()) return complain(who, app.error());
  if (auto started = (*app)->start(); !started.ok()) return complain(who, started.error());
  auto told = (*app)->explain(target_name, *facts, patience);
  if (!told.ok()) return complain(who, told.error());

  const std::string text =
      command.json ? as_json(*told, command.target.reference, command.method) : as_text(*told, command.method);
  std::printf("%s", text.c_str());
  if (!told->not_ready.empty()) std::fprintf(stderr, "tenon %s: %s\n", who, told->not_ready.c_str());
  const bool some = std::any_of(told->instances.begin(), told->instances.end(),
                                [](const ClusterInvoker::Verdict& verdict) { return verdict.eligible; });
  return some && told->not_ready.empty() ? exit_ok : exit_failed;
}

Subcommand add_explain(CLI::App& route) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App* parser = route.add_subcommand("explain", "print for each instance whether a call would reach it, and why");
  parser->footer(explain_footer);
  parser->add_option("-c,--manifest", command->target.manifest, "the client's manifest")->type_name("FILE")->required();
  parser->add_option("--reference", command->target.reference, "a name of its client.references")
      ->type_name("NAME")
      ->required();
  parser->add_option("--method", command->method, "of the service")->type_name("NAME")->required();
  parser->add_option("--header", command->headers, "of the call, NAME=VALUE; may be given several times")
      ->type_name("HEADER")
      ->take_all();
  parser->add_option("--hash-key", command->hash_key, "of the call; without one percentages are shares")
      ->type_name("N");
  parser->add_option("--instance", command->instance, "as a call to this instance only, by id or address")
      ->type_name("ID");
  parser->add_option("--patience", command->patience, "how long to wait for registries and connections (2s)")
      ->type_name("TIME");
  parser->add_option("--load", command->target.plugins, "one more plugin, by name or path")
      ->type_name("PLUGIN")
      ->take_all();
  parser->add_option("--plugin-dir", command->target.plugin_dir, "look for plugins here first")
      ->type_name("DIR")
      ->take_all();
  parser->add_flag("--json", command->json, "print one object, {\"instances\":[...]}");
  return {parser, [command] { return explain(*command); }};
}

}  // namespace

Subcommand add_route(CLI::App& tenon) {
  CLI::App* parser = tenon.add_subcommand("route", "show which instances a call would reach, and why");
  parser->footer(footer);
  parser->require_subcommand(1);
  const Subcommand part = add_explain(*parser);
  return {parser, [part] { return part.run(); }};
}

}  // namespace tenon::cli
