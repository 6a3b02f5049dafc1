// tenon health: one line and an exit code, for probes.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "admin_client.hpp"
#include "command.hpp"
#include "log/log.hpp"
#include "manifest/scalar.hpp"

namespace tenon::cli {
namespace {

constexpr const char* footer =
    "Ready: it listens, its services are warm, it is announced, it is neither paused nor draining, and each reference\n"
    "with `check: true` has somebody to call. Live: its io threads answer.\n"
    "\n"
    "ADDRESS is what the process has as admin.listen in its manifest. Only its user and root may ask. With protocol\n"
    "http among admin.protocols: curl -f -X POST --unix-socket /path.sock http://admin/tenon.Admin/ready\n"
    "\n"
    "Examples:\n"
    "  tenon health unix:/run/greeter/admin.sock\n"
    "  tenon health --live /run/greeter/admin.sock\n"
    "  tenon health --manifest server.yaml --wait 10s\n"
    "\n"
    "Exit codes: 0 it is, 1 it is not, or nobody answers, 2 wrong command line or manifest";

constexpr Duration look_again = std::chrono::milliseconds(100);

struct HealthOptions {
  AdminTarget target;
  bool ready = false;
  bool live = false;
  std::string wait{"0s"};
};

/// What was found.
struct Finding {
  bool good = false;
  std::string line;
};

Finding look(AdminClient& client, bool live) {
  const std::string word = live ? "live" : "ready";
  auto state = client.ask<admin::HealthState>("health");
  if (!state.ok()) return {false, "not " + word + ": no answer: " + one_line(state.error().text())};
  if (live ? state->live : state->ready) return {true, word};
  std::string text = "not " + word;
  const char* separator = ": ";
  for (const std::string& one : state->missing) text += std::exchange(separator, "; ") + one_line(one);
  return {false, text};
}

int health(const HealthOptions& options) {
  Duration patience{0};
  if (const std::string fault = manifest::parse_duration(options.wait, patience); !fault.empty())
    return misused("health", "--wait " + options.wait + ": expected " + fault);
  auto client = AdminClient::open(options.target);
  if (!client.ok()) return complain("health", client.error());
  const auto until = std::chrono::steady_clock::now() + patience;
  Finding found = look(**client, options.live);
  while (!found.good && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(look_again);
    found = look(**client, options.live);
  }
  std::printf("%s\n", found.line.c_str());
  return found.good ? exit_ok : exit_failed;
}

}  // namespace

Subcommand add_health(CLI::App& tenon) {
  auto options = std::make_shared<HealthOptions>();
  CLI::App* parser = tenon.add_subcommand("health", "say whether a running process is ready, or live");
  parser->footer(footer);
  add_admin_target(*parser, options->target);
  CLI::Option* ready = parser->add_flag("--ready", options->ready, "may it be called? (the default)");
  parser->add_flag("--live", options->live, "does it answer at all?")->excludes(ready);
  parser->add_option("--wait", options->wait, "until it is, so long at most (default: one look)")->type_name("TIME");
  return {parser, [options] { return health(*options); }};
}

}  // namespace tenon::cli
