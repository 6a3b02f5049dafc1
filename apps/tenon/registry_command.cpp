// tenon registry: what a registry knows, and taking instances out of traffic and back.

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "command.hpp"
#include "registry_tool.hpp"

namespace tenon::cli {
namespace {

constexpr const char* footer =
    "REGISTRY is zookeeper://HOST:PORT,HOST:PORT?root=/motan, or {use: zookeeper, servers: …} as in a manifest; what\n"
    "follows :// is that registry's first option. With --manifest it is a name of the manifest's registries, needed\n"
    "when there are several. SERVICE is GROUP/INTERFACE:VERSION; group and version may be left out where it is clear.\n"
    "\n"
    "Examples:\n"
    "  tenon registry ls --registry zookeeper://127.0.0.1:2181\n"
    "  tenon registry ls demo.Greeter --group yf-rpc --manifest client.yaml --json\n"
    "  tenon registry watch yf-rpc/demo.Greeter --manifest client.yaml --for 1m\n"
    "  tenon registry offline demo.Greeter 10.0.0.7:4080 --registry zookeeper://127.0.0.1:2181\n"
    "  tenon registry weight demo.Greeter 10.0.0.7:4080 50 --registry zookeeper://127.0.0.1:2181\n"
    "\n"
    "Exit codes: 0 done, 1 not there, several would do, or the registry does not answer, 2 wrong command line or "
    "manifest";

constexpr const char* watch_footer =
    "Prints the instances, then a line for each change until Ctrl-C:\n"
    "  12:00:01 + 10.0.0.7:4080 weight 100, serving      joined\n"
    "  12:00:02 ~ 10.0.0.7:4080 weight 100 -> 50         changed\n"
    "  12:00:03 - 10.0.0.7:4080 withdrawn                left on purpose; \"left\": it is gone\n"
    "  12:00:04 ! the registry does not answer: …        the list stays as it was\n"
    "\n"
    "Examples:\n"
    "  tenon registry watch yf-rpc/demo.Greeter --registry zookeeper://127.0.0.1:2181\n"
    "  tenon registry watch demo.Greeter --manifest client.yaml --for 10s --json\n"
    "\n"
    "Exit codes: 0 ended as asked, 1 the registry never answered, 2 wrong command line or manifest";

constexpr const char* steer_footer =
    "The instance stays its provider's. What is set holds until the provider itself changes it or starts anew, also\n"
    "when the registry is lost in between. INSTANCE is an id or an address. An instance that was not announced by\n"
    "Tenon is only marked: Tenon's consumers heed that, others do not.\n"
    "\n"
    "Examples:\n"
    "  tenon registry offline yf-rpc/demo.Greeter 10.0.0.7:4080 --registry zookeeper://127.0.0.1:2181\n"
    "  tenon registry online yf-rpc/demo.Greeter 10.0.0.7:4080 --registry zookeeper://127.0.0.1:2181\n"
    "  tenon registry weight yf-rpc/demo.Greeter 10.0.0.7:4080 50 --manifest client.yaml\n"
    "\n"
    "Exit codes: 0 done, 1 not there, several would do, or the registry does not answer, 2 wrong command line or "
    "manifest";

Subcommand add_ls(CLI::App& registry) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* parser = registry.add_subcommand("ls", "list groups, services, instances and subscribers");
  parser->footer(footer);
  parser->add_option("SERVICE", options->service, "only this one");
  parser->add_option("--group", options->group, "only this group")->type_name("GROUP");
  parser->add_flag("--json", options->json, "print {\"groups\":[...]}");
  add_registry_target(*parser, options->target);
  return {parser, [options] { return list_registry(*options); }};
}

Subcommand add_watch(CLI::App& registry) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* parser = registry.add_subcommand("watch", "follow the instances of a service");
  parser->footer(watch_footer);
  parser->add_option("SERVICE", options->service, "which")->required();
  parser->add_option("--group", options->group, "its group")->type_name("GROUP");
  parser->add_option("--for", options->time, "end after that time: 10s, 5m")->type_name("TIME");
  parser->add_flag("--json", options->json, "print an object a line");
  add_registry_target(*parser, options->target);
  return {parser, [options] { return watch_service(*options); }};
}

std::shared_ptr<SteerOptions> add_steered(CLI::App& parser) {
  auto options = std::make_shared<SteerOptions>();
  parser.footer(steer_footer);
  parser.add_option("SERVICE", options->service, "which service")->required();
  parser.add_option("INSTANCE", options->instance, "its id or address")->required();
  parser.add_option("--group", options->group, "the service's group")->type_name("GROUP");
  add_registry_target(parser, options->target);
  return options;
}

Subcommand add_offline(CLI::App& registry) {
  CLI::App* parser = registry.add_subcommand("offline", "take an instance out of traffic");
  return {parser, [options = add_steered(*parser)] { return set_serving(*options, false); }};
}

Subcommand add_online(CLI::App& registry) {
  CLI::App* parser = registry.add_subcommand("online", "take an instance back into traffic");
  return {parser, [options = add_steered(*parser)] { return set_serving(*options, true); }};
}

Subcommand add_weight(CLI::App& registry) {
  CLI::App* parser = registry.add_subcommand("weight", "change an instance's share of the calls");
  const std::shared_ptr<SteerOptions> options = add_steered(*parser);
  parser->add_option("WEIGHT", options->weight, "0 (no calls) to 100 (the usual)")
      ->required()
      ->check(CLI::Range(0, 100));
  return {parser, [options] { return set_weight(*options); }};
}

}  // namespace

Subcommand add_registry(CLI::App& tenon) {
  CLI::App* parser = tenon.add_subcommand("registry", "look at a registry, and steer the instances in it");
  parser->footer(footer);
  parser->require_subcommand(1);
  const std::vector<Subcommand> parts{add_ls(*parser), add_watch(*parser), add_offline(*parser), add_online(*parser),
                                      add_weight(*parser)};
  return {parser, [parts] {
            for (const Subcommand& part : parts)
              if (part.parser->parsed()) return part.run();
            return exit_usage;
          }};
}

}  // namespace tenon::cli
