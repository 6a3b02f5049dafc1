// tenon stats: what a running process says of itself, once.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "admin_client.hpp"
#include "command.hpp"
#include "stats_text.hpp"

namespace tenon::cli {
namespace {

constexpr const char* footer =
    "SECTION is state, listeners, connections, pools, references, plugins or config; without one all but the last "
    "two.\n"
    "ADDRESS is what the process has as admin.listen in its manifest. Only its user and root may ask.\n"
    "\n"
    "config prints every value in force and its origin: file:line:col, \"default\", or \"program\" (set by code or "
    "its\n"
    "command line). Passwords and the like are shown as ***.\n"
    "\n"
    "Examples:\n"
    "  tenon stats unix:/run/greeter/admin.sock\n"
    "  tenon stats /run/greeter/admin.sock pools connections --limit 100\n"
    "  tenon stats --manifest server.yaml state config --json\n"
    "\n"
    "Exit codes: 0 printed, 1 nobody answers, 2 wrong command line or manifest";

const std::vector<std::string> usual{"state", "listeners", "pools", "references", "connections"};

struct StatsOptions {
  AdminTarget target;
  std::vector<std::string> sections;
  std::uint32_t limit = 20;
  bool json = false;
};

/// Everything that the wanted sections need.
struct Answers {
  admin::Stats stats;
  std::vector<admin::LoadedPlugin> plugins;
  std::vector<admin::ConfigValue> config;
};

/// Writes one section, or says why it cannot.
class Printer {
 public:
  Printer(const Answers& answers, std::shared_ptr<Serializer> json) : answers_(answers), json_(std::move(json)) {}

  std::string text(const std::string& section) const {
    if (section == "state") return state_text(answers_.stats.app);
    if (section == "listeners") return listeners_text(answers_.stats.listeners);
    if (section == "pools") return pools_text(answers_.stats.pools);
    if (section == "references") return references_text(answers_.stats.references);
    if (section == "connections") return connections_text(answers_.stats.connections);
    return section == "plugins" ? plugins_text(answers_.plugins) : config_text(answers_.config);
  }
  Result<std::string> json(const std::string& section) const {
    if (section == "state") return encoded(answers_.stats.app);
    if (section == "listeners") return encoded(answers_.stats.listeners);
    if (section == "pools") return encoded(answers_.stats.pools);
    if (section == "references") return encoded(answers_.stats.references);
    if (section == "connections") return encoded(answers_.stats.connections);
    return section == "plugins" ? encoded(answers_.plugins) : encoded(answers_.config);
  }

 private:
  template <class T>
  Result<std::string> encoded(const T& part) const {
    const Bare<T> value{part};
    OutBuffer out;
    if (Result<void> done = json_->encode(message_type<Bare<T>>(), &value, out); !done.ok())
      return std::move(done).error();
    return std::string(out.view());
  }
  const Answers& answers_;
  const std::shared_ptr<Serializer> json_;
};

bool wants(const StatsOptions& options, std::string_view section) {
  return std::find(options.sections.begin(), options.sections.end(), section) != options.sections.end();
}

Result<Answers> ask(AdminClient& client, const StatsOptions& options) {
  Answers answers;
  const bool live = std::any_of(usual.begin(), usual.end(), [&](const std::string& s) { return wants(options, s); });
  if (live) {
    auto stats = client.ask<admin::Stats>("stats", wants(options, "connections") ? options.limit : std::uint32_t{0});
    if (!stats.ok()) return std::move(stats).error();
    answers.stats = std::move(*stats);
  }
  if (wants(options, "plugins")) {
    auto plugins = client.ask<std::vector<admin::LoadedPlugin>>("plugins");
    if (!plugins.ok()) return std::move(plugins).error();
    answers.plugins = std::move(*plugins);
  }
  if (wants(options, "config")) {
    auto config = client.ask<std::vector<admin::ConfigValue>>("config");
    if (!config.ok()) return std::move(config).error();
    answers.config = std::move(*config);
  }
  return answers;
}

int stats(StatsOptions options) {
  // With --manifest the first word is a section, not an address.
  if (!options.target.manifest.empty() && !options.target.address.empty())
    options.sections.insert(options.sections.begin(), std::exchange(options.target.address, {}));
  std::vector<std::string> known = usual;
  known.insert(known.end(), {"plugins", "config"});
  for (const std::string& section : options.sections)
    if (std::find(known.begin(), known.end(), section) == known.end())
      return misused("stats", "no section \"" + section +
                                  "\"; there are: state, listeners, pools, references, connections, plugins, config");
  if (options.sections.empty()) options.sections = usual;
  auto client = AdminClient::open(options.target);
  if (!client.ok()) return complain("stats", client.error());
  Result<Answers> answers = ask(**client, options);
  if (!answers.ok()) return complain("stats", answers.error());
  auto json = (*client)->app().serializer("json");
  if (!json.ok()) return complain("stats", json.error());
  const Printer printer(*answers, std::move(*json));
  std::string text;
  for (const std::string& section : options.sections) {
    if (!options.json) {
      text += (text.empty() ? "" : "\n") + printer.text(section);
      continue;
    }
    Result<std::string> part = printer.json(section);
    if (!part.ok()) return complain("stats", part.error());
    text += (text.empty() ? "{\"" : ",\"") + section + "\":" + *part;
  }
  std::printf("%s%s", text.c_str(), options.json ? "}\n" : "");
  return exit_ok;
}

}  // namespace

Subcommand add_stats(CLI::App& tenon) {
  auto options = std::make_shared<StatsOptions>();
  CLI::App* parser = tenon.add_subcommand("stats", "print what a running process is doing");
  parser->footer(footer);
  add_admin_target(*parser, options->target);
  parser->add_option("SECTION", options->sections, "what to print");
  parser->add_option("--limit", options->limit, "connections shown, the busiest first (default 20)")
      ->check(CLI::Range(0, 1000));
  parser->add_flag("--json", options->json, "print one object with a member for each section");
  return {parser, [options] { return stats(*options); }};
}

}  // namespace tenon::cli
