// tenon: the command line. One file for each subcommand; this one only chooses.

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "manifest/nearest.hpp"
#include "tenon/plugin.hpp"

namespace tenon::cli {
namespace {

constexpr const char* footer =
    "Examples:\n"
    "  tenon serve --manifest server.yaml\n"
    "  tenon call demo.Greeter/SayHello '{\"name\":\"Ada\"}' --address tcp:127.0.0.1:4080\n"
    "  tenon bench --spawn --size 100 --concurrency 1,100,10000\n"
    "  tenon new plugin filter rate-limit\n"
    "  tenon top unix:/run/greeter/admin.sock\n"
    "  tenon drain unix:/run/greeter/admin.sock\n"
    "  tenon center --listen 127.0.0.1:4070 --store /var/lib/tenon-center\n"
    "  tenon registry ls --registry zookeeper://127.0.0.1:2181\n"
    "  tenon command preview yf-rpc yf.json --manifest client.yaml\n"
    "  tenon route explain -c client.yaml --reference users --method getUser\n"
    "\n"
    "`tenon SUBCOMMAND --help` explains each one.\n"
    "\n"
    "Exit codes:\n"
    "  0  it worked\n"
    "  1  it was tried and failed: a call, a port, a peer\n"
    "  2  wrong command line, manifest or plugin; nothing was tried";

// A first argument that should be a subcommand and is none; empty when there is no such mistake.
std::string_view unknown_subcommand(int argc, char** argv, const std::vector<std::string_view>& known) {
  if (argc < 2) return {};
  const std::string_view first = argv[1];
  if (first.empty() || first.front() == '-') return {};
  for (const std::string_view name : known)
    if (name == first) return {};
  return first;
}

int run(int argc, char** argv) {
  CLI::App tenon("Tenon: remote procedure calls whose every part is a plugin.", "tenon");
  tenon.footer(footer);
  tenon.set_version_flag("--version", std::string("tenon " TENON_VERSION "\n") + stamp);
  tenon.require_subcommand(1);
  const std::vector<Subcommand> subcommands{add_serve(tenon),    add_call(tenon),  add_check(tenon), add_plugins(tenon),
                                            add_bench(tenon),    add_new(tenon),   add_stats(tenon), add_top(tenon),
                                            add_health(tenon),   add_drain(tenon), add_resume(tenon),
                                            add_registry(tenon), add_command(tenon), add_rule(tenon),
                                            add_route(tenon),    add_center(tenon)};
  std::vector<std::string> names;
  for (const Subcommand& subcommand : subcommands) names.push_back(subcommand.parser->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (const std::string_view wrong = unknown_subcommand(argc, argv, known); !wrong.empty()) {
    std::string text = "no subcommand \"" + std::string(wrong) + '"';
    if (const std::string near = did_you_mean(wrong, known); !near.empty())
      text += near;
    else
      text += "; there are: " + listed(known);
    std::fprintf(stderr, "tenon: %s\n", text.c_str());
    return exit_usage;
  }
  try {
    tenon.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return tenon.exit(error) == 0 ? exit_ok : exit_usage;
  }
  for (const Subcommand& subcommand : subcommands)
    if (subcommand.parser->parsed()) return subcommand.run();
  return exit_usage;
}

}  // namespace

}  // namespace tenon::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader of our output that left is an error of write(), not the end
  try {
    return tenon::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon: %s\n", error.what());
    return tenon::cli::exit_failed;
  }
}
