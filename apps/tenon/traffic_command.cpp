// tenon command: the traffic commands of groups: what they are, what they do, and changing them.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "command.hpp"
#include "command_change.hpp"
#include "command_document.hpp"
#include "table.hpp"
#include "traffic_text.hpp"

namespace tenon::cli {
namespace {

constexpr const char* registry_footer =
    "REGISTRY is zookeeper://HOST:PORT,HOST:PORT?root=/motan, or {use: zookeeper, servers: …} as in a manifest; what\n"
    "follows :// is that registry's first option. With --manifest it is a name of the manifest's registries, needed\n"
    "when there are several.\n"
    "\n";

constexpr const char* footer =
    "A command shifts the calls of all clients of a group, within a second and without a restart: which groups and\n"
    "instances serve them, in which shares. It is one JSON document per group; Motan's clients read it, too.\n"
    "\n"
    "Examples:\n"
    "  tenon command get --manifest client.yaml\n"
    "  tenon command get yf-rpc --registry zookeeper://127.0.0.1:2181 > yf.json\n"
    "  tenon command preview yf-rpc yf.json --registry zookeeper://127.0.0.1:2181\n"
    "  tenon command set yf-rpc yf.json --registry zookeeper://127.0.0.1:2181\n"
    "  tenon command delete yf-rpc --registry zookeeper://127.0.0.1:2181\n"
    "\n"
    "Exit codes: 0 done, 1 refused or failed, 2 wrong command line, JSON or manifest";

constexpr const char* get_footer =
    "The document goes to standard output, its version to standard error. Without GROUP: the groups that have one.\n"
    "\n"
    "Examples:\n"
    "  tenon command get --manifest client.yaml\n"
    "  tenon command get yf-rpc --registry zookeeper://127.0.0.1:2181 > yf.json\n"
    "\n"
    "Exit codes: 0 printed, 1 there is none or the registry does not answer, 2 wrong command line or manifest";

constexpr const char* set_footer =
    "SOURCE is a file, - for standard input, or the document itself ({\"clientCommandList\":[…]}).\n"
    "Shows the order in which entries apply, what is wrong with them, and for each service and client who gets which\n"
    "share of the calls now and then. Nothing is written when an entry is malformed or a service would be left "
    "without\n"
    "instances, unless --force is given, nor when somebody else wrote since the document was read here (with "
    "--version\n"
    "N: since it had that version).\n"
    "\n"
    "Examples:\n"
    "  tenon command set yf-rpc yf.json --registry zookeeper://127.0.0.1:2181\n"
    "  tenon command set yf-rpc '{\"clientCommandList\":[{\"index\":1,\"pattern\":\"demo.*\",\n"
    "      \"mergeGroups\":[\"yf-rpc:5\",\"tc-rpc:1\"]}]}' --manifest client.yaml --dry-run\n"
    "\n"
    "Exit codes: 0 written (or could be, with --dry-run), 1 refused, or changed by somebody else, or failed,\n"
    "2 malformed, or wrong command line or manifest";

constexpr const char* delete_footer =
    "Shows what changes, and refuses to leave a service without instances, as `tenon command set` does. While clients\n"
    "that are not Tenon's follow the group, an empty list is written instead, because Motan's clients in Go would not\n"
    "notice that the document has gone; --force deletes it all the same.\n"
    "\n"
    "Examples:\n"
    "  tenon command delete yf-rpc --registry zookeeper://127.0.0.1:2181\n"
    "\n"
    "Exit codes: 0 done, 1 refused, not there, or changed by somebody else, 2 wrong command line or manifest";

constexpr const char* preview_footer =
    "Shows for each service of the group, and for each address its clients have, who gets which share of the calls:\n"
    "now, and then with SOURCE (a file, - or the document itself). Nothing is written.\n"
    "\n"
    "Examples:\n"
    "  tenon command preview yf-rpc --registry zookeeper://127.0.0.1:2181\n"
    "  tenon command preview yf-rpc yf.json --service demo.Greeter --client 10.75.0.7 --manifest client.yaml\n"
    "\n"
    "Exit codes: 0 shown, 1 the registry does not answer, 2 malformed, or wrong command line or manifest";

struct GetOptions {
  RegistryTarget target;
  std::string group;
  bool json = false;
};

std::string patterns_of(const std::vector<CommandEntry>& entries) {
  std::string text;
  for (const CommandEntry& entry : entries) text += (text.empty() ? "" : "; ") + entry.pattern;
  return text;
}

int list_commands(RegistryClient& registry, bool json) {
  auto groups = registry.groups();
  if (!groups.ok()) return complain("command get", groups.error());
  Table table({"GROUP", ">VERSION", ">ENTRIES", "PATTERNS"});
  std::string objects;
  for (const std::string& group : *groups) {
    auto document = registry.read("command", group);
    if (!document.ok()) {
      std::fprintf(stderr, "tenon command get: group %s: %s\n", group.c_str(), document.error().text().c_str());
      continue;
    }
    if (document->version == 0 || document->text.empty()) continue;
    auto entries = read_entries(document->text);
    table.row({group, std::to_string(document->version), entries.ok() ? std::to_string(entries->size()) : "-",
               entries.ok() ? patterns_of(*entries) : entries.error().text()});
    objects += (objects.empty() ? "" : ",\n") + std::string("{\"group\":") + json_text(group) +
               ",\"version\":" + std::to_string(document->version) + ",\"text\":" + json_text(document->text) + "}";
  }
  if (json)
    std::printf("{\"commands\":[%s]}\n", objects.c_str());
  else if (table.empty())
    std::fprintf(stderr, "no group has a command\n");
  else
    std::printf("%s", table.text().c_str());
  return exit_ok;
}

int get(const GetOptions& options) {
  auto registry = RegistryClient::open(options.target);
  if (!registry.ok()) return complain("command get", registry.error());
  if (options.group.empty()) return list_commands(**registry, options.json);
  auto document = (*registry)->read("command", options.group);
  if (!document.ok()) return complain("command get", document.error());
  if (document->version == 0) {
    std::fprintf(stderr, "tenon command get: group %s has no command\n", options.group.c_str());
    return exit_failed;
  }
  if (options.json) {
    std::printf("{\"group\":%s,\"version\":%llu,\"text\":%s}\n", json_text(options.group).c_str(),
                static_cast<unsigned long long>(document->version), json_text(document->text).c_str());
    return exit_ok;
  }
  std::fprintf(stderr, "group %s, version %llu\n", options.group.c_str(),
               static_cast<unsigned long long>(document->version));
  const auto pretty = pretty_json(document->text);
  if (!pretty.ok() && !document->text.empty())
    std::fprintf(stderr, "tenon command get: %s; this is the text as it is\n", pretty.error().text().c_str());
  std::printf("%s\n", pretty.ok() ? pretty->c_str() : document->text.c_str());
  return exit_ok;
}

Subcommand add_get(CLI::App& command) {
  auto options = std::make_shared<GetOptions>();
  CLI::App* parser = command.add_subcommand("get", "print a group's command, or list those there are");
  parser->footer(std::string(registry_footer) + get_footer);
  parser->add_option("GROUP", options->group, "whose; without it all groups that have one are listed");
  parser->add_flag("--json", options->json, "print one object: group, version and text; or {\"commands\":[...]}");
  add_registry_target(*parser, options->target);
  return {parser, [options] { return get(*options); }};
}

Subcommand add_set(CLI::App& command) {
  auto options = std::make_shared<ChangeOptions>();
  CLI::App* parser = command.add_subcommand("set", "write a group's command, after showing what it does");
  parser->footer(std::string(registry_footer) + set_footer);
  parser->add_option("GROUP", options->group, "whose")->required();
  parser->add_option("SOURCE", options->source, "a file, -, or the document itself")->required();
  add_registry_target(*parser, options->target);
  parser->add_option("--version", options->version, "write only if the command has this version now (0: none)")
      ->type_name("N");
  parser->add_flag("--force", options->force, "write although entries are malformed or services are left alone");
  parser->add_flag("--dry-run", options->dry_run, "show everything, write nothing");
  return {parser, [options] { return set_command(*options); }};
}

Subcommand add_delete(CLI::App& command) {
  auto options = std::make_shared<ChangeOptions>();
  CLI::App* parser = command.add_subcommand("delete", "take a group's command away");
  parser->footer(std::string(registry_footer) + delete_footer);
  parser->add_option("GROUP", options->group, "whose")->required();
  add_registry_target(*parser, options->target);
  parser->add_option("--version", options->version, "only if the command has this version now")->type_name("N");
  parser->add_flag("--force", options->force, "whoever is left alone, and whoever follows it");
  parser->add_flag("--dry-run", options->dry_run, "show everything, delete nothing");
  return {parser, [options] { return delete_command(*options); }};
}

Subcommand add_preview(CLI::App& command) {
  auto options = std::make_shared<PreviewOptions>();
  CLI::App* parser = command.add_subcommand("preview", "show who gets which share of the calls");
  parser->footer(std::string(registry_footer) + preview_footer);
  parser->add_option("GROUP", options->group, "of the clients")->required();
  parser->add_option("SOURCE", options->source, "a file, -, or the document itself: what would be");
  add_registry_target(*parser, options->target);
  parser->add_option("--service", options->service, "only this one: INTERFACE or INTERFACE:VERSION")
      ->type_name("SERVICE");
  parser->add_option("--client", options->clients, "as for a client at this address; may be given several times")
      ->type_name("ADDRESS")
      ->take_all();
  parser->add_flag("--json", options->json, "print {\"previews\":[...]}");
  return {parser, [options] { return preview_command(*options); }};
}

}  // namespace

Subcommand add_command(CLI::App& tenon) {
  CLI::App* parser = tenon.add_subcommand("command", "look at traffic commands, try them, write them");
  parser->footer(footer);
  parser->require_subcommand(1);
  const std::vector<Subcommand> parts{add_get(*parser), add_set(*parser), add_preview(*parser), add_delete(*parser)};
  return {parser, [parts] {
            for (const Subcommand& part : parts)
              if (part.parser->parsed()) return part.run();
            return exit_usage;
          }};
}

}  // namespace tenon::cli
