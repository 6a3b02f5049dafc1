// tenon rule: the routing rules of groups: reading, checking, writing them.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "command.hpp"
#include "command_document.hpp"
#include "registry_client.hpp"
#include "table.hpp"

namespace tenon::cli {
namespace {

constexpr const char* kind = "rule";

constexpr const char* registry_footer =
    "REGISTRY is zookeeper://HOST:PORT,HOST:PORT?root=/motan, or {use: zookeeper, servers: …} as in a manifest. With\n"
    "--manifest it is a name of the manifest's registries, needed when there are several.\n"
    "\n";

constexpr const char* footer =
    "Rules say which calls go to which instances: read/write split, grey release, isolation, tags, backup groups. "
    "They\n"
    "are one JSON document per group, which clients with `router: rules` follow. `tenon route explain` shows what "
    "they\n"
    "do to a call.\n"
    "\n"
    "Examples:\n"
    "  tenon rule get --manifest client.yaml\n"
    "  tenon rule set yf-rpc rules.json --registry zookeeper://127.0.0.1:2181\n"
    "  tenon rule delete yf-rpc --registry zookeeper://127.0.0.1:2181\n"
    "\n"
    "Exit codes: 0 done, 1 refused or failed, 2 wrong command line, rules or manifest";

constexpr const char* get_footer =
    "The document goes to standard output, its version to standard error. Without GROUP: the groups that have one.\n"
    "\n"
    "Examples:\n"
    "  tenon rule get yf-rpc --registry zookeeper://127.0.0.1:2181 > rules.json\n"
    "\n"
    "Exit codes: 0 printed, 1 there is none or the registry does not answer, 2 wrong command line or manifest";

constexpr const char* set_footer =
    "SOURCE is a file, - for standard input, or the document itself ({\"rules\":[…]}). It is read as clients read it;\n"
    "what they would refuse is not written.\n"
    "\n"
    "Examples:\n"
    "  tenon rule set yf-rpc rules.json --registry zookeeper://127.0.0.1:2181\n"
    "  tenon rule set yf-rpc '{\"rules\":[{\"when\":[{\"attribute\":\"method\",\"prefix\":\"get\"}],\n"
    "      \"to\":[{\"attribute\":\"metadata.role\",\"equals\":\"replica\"}]}]}' --manifest client.yaml --dry-run\n"
    "\n"
    "Exit codes: 0 written (or could be, with --dry-run), 1 changed by somebody else, or failed, 2 bad rules, or "
    "wrong\n"
    "command line or manifest";

constexpr const char* delete_footer =
    "Examples:\n"
    "  tenon rule delete yf-rpc --registry zookeeper://127.0.0.1:2181\n"
    "\n"
    "Exit codes: 0 done, 1 not there, or changed by somebody else, 2 wrong command line or manifest";

struct RuleOptions {
  RegistryTarget target;
  std::string group;
  std::string source;
  std::optional<std::uint64_t> version;
  bool dry_run = false;
  bool json = false;
};

int list(RegistryClient& registry, bool json) {
  auto groups = registry.groups();
  if (!groups.ok()) return complain("rule get", groups.error());
  Table table({"GROUP", ">VERSION", ">BYTES"});
  std::string objects;
  for (const std::string& group : *groups) {
    auto document = registry.read(kind, group);
    if (!document.ok()) {
      std::fprintf(stderr, "tenon rule get: group %s: %s\n", group.c_str(), document.error().text().c_str());
      continue;
    }
    if (document->version == 0 || document->text.empty()) continue;
    table.row({group, std::to_string(document->version), std::to_string(document->text.size())});
    objects += (objects.empty() ? "" : ",\n") + std::string("{\"group\":") + json_text(group) +
               ",\"version\":" + std::to_string(document->version) + ",\"text\":" + json_text(document->text) + "}";
  }
  if (json)
    std::printf("{\"rules\":[%s]}\n", objects.c_str());
  else if (table.empty())
    std::fprintf(stderr, "no group has rules\n");
  else
    std::printf("%s", table.text().c_str());
  return exit_ok;
}

int get(const RuleOptions& options) {
  auto registry = RegistryClient::open(options.target);
  if (!registry.ok()) return complain("rule get", registry.error());
  if (options.group.empty()) return list(**registry, options.json);
  auto document = (*registry)->read(kind, options.group);
  if (!document.ok()) return complain("rule get", document.error());
  if (document->version == 0) {
    std::fprintf(stderr, "tenon rule get: group %s has no rules\n", options.group.c_str());
    return exit_failed;
  }
  const auto version = static_cast<unsigned long long>(document->version);
  if (options.json) {
    std::printf("{\"group\":%s,\"version\":%llu,\"text\":%s}\n", json_text(options.group).c_str(), version,
                json_text(document->text).c_str());
    return exit_ok;
  }
  std::fprintf(stderr, "group %s, version %llu\n", options.group.c_str(), version);
  const auto pretty = pretty_json(document->text);
  if (!pretty.ok() && !document->text.empty())
    std::fprintf(stderr, "tenon rule get: %s; this is the text as it is\n", pretty.error().text().c_str());
  std::printf("%s\n", pretty.ok() ? pretty->c_str() : document->text.c_str());
  return exit_ok;
}

// As clients read it. What has no effect is told.
Result<void> check(RegistryClient& registry, const RuleOptions& options, const std::string& text) {
  auto router = registry.app().router(Component("rules"));
  if (!router.ok()) return std::move(router).error();
  return registry.on_executor([&]() -> Result<void> {
    const auto bound = (*router)->for_service({"any.Service", options.group, ""});
    auto table = bound->compile({}, {Document{kind, options.group, text, 1}});
    if (!table.ok()) return Error(Errc::config, "tenon rule set: " + table.error().text(), Delivery::not_run);
    for (const std::string& complaint : (*table)->complaints()) std::fprintf(stderr, "note: %s\n", complaint.c_str());
    return {};
  });
}

int conflict(const char* who, const RuleOptions& options, std::uint64_t version) {
  std::fprintf(stderr,
               "tenon %s: group %s: somebody else has changed the rules since they had version %llu, so nothing is "
               "written; look at them (tenon rule get %s) and decide anew\n",
               who, options.group.c_str(), static_cast<unsigned long long>(version), options.group.c_str());
  return exit_failed;
}

int put(const RuleOptions& options) {
  constexpr const char* who = "rule set";
  auto text = read_source(options.source);
  if (!text.ok()) return complain(who, text.error());
  auto registry = RegistryClient::open(options.target, {"cluster"});
  if (!registry.ok()) return complain(who, registry.error());
  if (auto good = check(**registry, options, *text); !good.ok()) return complain(who, good.error());
  auto document = (*registry)->read(kind, options.group);
  if (!document.ok()) return complain(who, document.error());
  if (options.version && *options.version != document->version) return conflict(who, options, *options.version);
  const std::uint64_t before = document->version;
  if (before != 0 && document->text == *text) {
    std::printf("group %s: these are its rules already; nothing is written\n", options.group.c_str());
    return exit_ok;
  }
  if (options.dry_run) {
    std::printf("group %s: the rules are good; nothing is written (--dry-run)\n", options.group.c_str());
    return exit_ok;
  }
  document->kind = kind;
  document->group = options.group;
  document->text = std::move(*text);
  const auto written = (*registry)->write(*document);
  if (!written.ok() && written.error().code() == Errc::already_exists) return conflict(who, options, before);
  if (!written.ok()) return complain(who, written.error());
  auto now = (*registry)->read(kind, options.group);
  if (!now.ok()) return complain(who, now.error());
  std::printf("group %s: written, version %llu -> %llu\n", options.group.c_str(),
              static_cast<unsigned long long>(before), static_cast<unsigned long long>(now->version));
  return exit_ok;
}

int remove(const RuleOptions& options) {
  constexpr const char* who = "rule delete";
  auto registry = RegistryClient::open(options.target);
  if (!registry.ok()) return complain(who, registry.error());
  auto document = (*registry)->read(kind, options.group);
  if (!document.ok()) return complain(who, document.error());
  if (options.version && *options.version != document->version) return conflict(who, options, *options.version);
  if (document->version == 0) {
    std::fprintf(stderr, "tenon %s: group %s has no rules\n", who, options.group.c_str());
    return exit_failed;
  }
  const std::uint64_t before = document->version;
  document->kind = kind;
  document->group = options.group;
  const auto removed = (*registry)->remove(*document);
  if (!removed.ok() && (removed.error().code() == Errc::already_exists || removed.error().code() == Errc::not_found))
    return conflict(who, options, before);
  if (!removed.ok()) return complain(who, removed.error());
  std::printf("group %s: deleted (they had version %llu)\n", options.group.c_str(),
              static_cast<unsigned long long>(before));
  return exit_ok;
}

Subcommand add_get(CLI::App& rule) {
  auto options = std::make_shared<RuleOptions>();
  CLI::App* parser = rule.add_subcommand("get", "print a group's rules, or list the groups that have some");
  parser->footer(std::string(registry_footer) + get_footer);
  parser->add_option("GROUP", options->group, "whose; without it all groups that have rules are listed");
  parser->add_flag("--json", options->json, "print one object: group, version and text; or {\"rules\":[...]}");
  add_registry_target(*parser, options->target);
  return {parser, [options] { return get(*options); }};
}

Subcommand add_set(CLI::App& rule) {
  auto options = std::make_shared<RuleOptions>();
  CLI::App* parser = rule.add_subcommand("set", "write a group's rules, after reading them as clients do");
  parser->footer(std::string(registry_footer) + set_footer);
  parser->add_option("GROUP", options->group, "whose")->required();
  parser->add_option("SOURCE", options->source, "a file, -, or the document itself")->required();
  add_registry_target(*parser, options->target);
  parser->add_option("--version", options->version, "write only if the rules have this version now (0: none)")
      ->type_name("N");
  parser->add_flag("--dry-run", options->dry_run, "look whether they are good, write nothing");
  return {parser, [options] { return put(*options); }};
}

Subcommand add_delete(CLI::App& rule) {
  auto options = std::make_shared<RuleOptions>();
  CLI::App* parser = rule.add_subcommand("delete", "take a group's rules away");
  parser->footer(std::string(registry_footer) + delete_footer);
  parser->add_option("GROUP", options->group, "whose")->required();
  add_registry_target(*parser, options->target);
  parser->add_option("--version", options->version, "only if the rules have this version now")->type_name("N");
  return {parser, [options] { return remove(*options); }};
}

}  // namespace

Subcommand add_rule(CLI::App& tenon) {
  CLI::App* parser = tenon.add_subcommand("rule", "look at routing rules, check them, write them");
  parser->footer(footer);
  parser->require_subcommand(1);
  const std::vector<Subcommand> parts{add_get(*parser), add_set(*parser), add_delete(*parser)};
  return {parser, [parts] {
            for (const Subcommand& part : parts)
              if (part.parser->parsed()) return part.run();
            return exit_usage;
          }};
}

}  // namespace tenon::cli
