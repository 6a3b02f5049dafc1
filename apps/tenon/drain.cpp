// tenon drain, tenon resume: a running process takes no more traffic, and ends, or stays and comes back.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "admin_client.hpp"
#include "command.hpp"
#include "log/log.hpp"
#include "manifest/scalar.hpp"
#include "peer_process.hpp"
#include "table.hpp"

namespace tenon::cli {
namespace {

constexpr const char* drain_footer =
    "The process stops as SIGTERM makes it: it is withdrawn from its registries, tells its clients, refuses new calls\n"
    "so that they are sent elsewhere, answers those in flight within the grace, and exits. This command shows how far\n"
    "it is, and ends when the process has gone. With --keep the process stays, without traffic, until `tenon resume`;\n"
    "then this command ends when nothing is in flight any more.\n"
    "\n"
    "ADDRESS is what the process has as admin.listen in its manifest. Only its user and root may ask.\n"
    "\n"
    "Examples:\n"
    "  tenon drain unix:/run/greeter/admin.sock\n"
    "  tenon drain --manifest server.yaml --grace 30s\n"
    "  tenon drain /run/greeter/admin.sock --keep\n"
    "\n"
    "Exit codes: 0 it has gone (--keep: nothing is in flight; --no-wait: it was told), 1 it has not, or nobody "
    "answers,\n"
    "2 wrong command line or manifest";
constexpr const char* resume_footer =
    "Ends what `tenon drain --keep` began: calls are served, and registries are told, as before.\n"
    "\n"
    "Exit codes: 0 done, 1 it is not paused, or nobody answers, 2 wrong command line or manifest";

constexpr Duration look_again = std::chrono::milliseconds(100);
/// Beyond the grace: a process that keeps its promise is gone after one second.
constexpr Duration tolerance = std::chrono::seconds(5);

struct DrainOptions {
  AdminTarget target;
  std::string grace;
  bool no_wait = false;
  bool keep = false;
};

std::string in_flight(const admin::AppState& state) {
  return std::to_string(state.server_calls) + (state.server_calls == 1 ? " call" : " calls") + " in flight, " +
         std::to_string(state.server_connections) + (state.server_connections == 1 ? " connection" : " connections");
}

std::string who(const admin::AppState& state) {
  return one_line(state.application.empty() ? "(no name)" : state.application) + ", pid " + std::to_string(state.pid);
}

/// Prints a line when it differs from the last one.
class Progress {
 public:
  void show(std::string line) {
    if (line == last_) return;
    last_ = std::move(line);
    std::printf("%s\n", last_.c_str());
    std::fflush(stdout);
  }

 private:
  std::string last_;
};

const char* phase_of(const admin::AppState& state) {
  switch (state.phase) {
    case admin::Phase::starting: return "starting";
    case admin::Phase::ready: return "ready";
    case admin::Phase::draining: return "draining";
    case admin::Phase::stopped: return "closing";
    case admin::Phase::paused: return "paused";
  }
  return "?";
}

Error still_there(Duration waited) {
  return Error(Errc::deadline_exceeded, "it has not gone within " + human_time(waited), Delivery::maybe_run);
}

int await_end(AdminClient& client, const PeerProcess& process, Duration patience) {
  const auto begun = std::chrono::steady_clock::now();
  const auto waited = [begun] { return std::chrono::steady_clock::now() - begun; };
  Progress progress;
  while (!process.gone(look_again)) {
    if (waited() > patience) return complain("drain", still_there(waited()));
    // What does not answer any more is about to go.
    if (auto state = client.ask<admin::AppState>("state"); state.ok())
      progress.show(std::string(phase_of(*state)) + ": " + in_flight(*state));
  }
  std::printf("gone after %s\n", human_time(waited()).c_str());
  return exit_ok;
}

int await_idle(AdminClient& client, Duration patience) {
  const auto begun = std::chrono::steady_clock::now();
  Progress progress;
  for (;;) {
    auto state = client.ask<admin::AppState>("state");
    if (!state.ok()) return complain("drain", state.error());
    progress.show(std::string(phase_of(*state)) + ": " + in_flight(*state));
    if (state->server_calls == 0) return exit_ok;
    if (std::chrono::steady_clock::now() - begun > patience)
      return complain("drain", Error(Errc::deadline_exceeded, in_flight(*state) + " after " + human_time(patience),
                                     Delivery::maybe_run));
    std::this_thread::sleep_for(look_again);
  }
}

int drain(const DrainOptions& options) {
  Duration grace{-1};
  if (!options.grace.empty())
    if (const std::string fault = manifest::parse_duration(options.grace, grace); !fault.empty())
      return misused("drain", "--grace " + options.grace + ": expected " + fault);
  auto client = AdminClient::open(options.target);
  if (!client.ok()) return complain("drain", client.error());
  const PeerProcess process((*client)->address());
  // Its own grace is known only to itself.
  Duration patience = grace;
  if (options.grace.empty()) {
    auto own = (*client)->ask<std::vector<admin::ConfigValue>>("config");
    if (!own.ok()) return complain("drain", own.error());
    for (const admin::ConfigValue& value : *own)
      if (value.path == "server.grace") (void)manifest::parse_duration(value.value, patience);
  }
  const std::int64_t ms = options.grace.empty() ? -1 : std::chrono::ceil<std::chrono::milliseconds>(grace).count();
  auto told = options.keep ? (*client)->ask<admin::AppState>("pause") : (*client)->ask<admin::AppState>("drain", ms);
  if (!told.ok()) return complain("drain", told.error());
  std::printf("%s: told to %s; %s\n", who(*told).c_str(), options.keep ? "take no traffic" : "stop",
              in_flight(*told).c_str());
  std::fflush(stdout);
  if (options.no_wait) return exit_ok;
  return options.keep ? await_idle(**client, patience) : await_end(**client, process, patience + tolerance);
}

int resume(const AdminTarget& target) {
  auto client = AdminClient::open(target);
  if (!client.ok()) return complain("resume", client.error());
  auto state = (*client)->ask<admin::AppState>("resume");
  if (!state.ok()) return complain("resume", state.error());
  std::printf("%s: %s\n", who(*state).c_str(), phase_of(*state));
  return exit_ok;
}

}  // namespace

Subcommand add_drain(CLI::App& tenon) {
  auto options = std::make_shared<DrainOptions>();
  CLI::App* parser = tenon.add_subcommand("drain", "let a running process finish and end, or only finish");
  parser->footer(drain_footer);
  add_admin_target(*parser, options->target);
  parser->add_option("--grace", options->grace, "for calls in flight (default: the process's server.grace)")
      ->type_name("TIME");
  parser->add_flag("--no-wait", options->no_wait, "do not wait for its end");
  parser->add_flag("--keep", options->keep, "take no traffic, but stay, until `tenon resume`");
  return {parser, [options] { return drain(*options); }};
}

Subcommand add_resume(CLI::App& tenon) {
  auto target = std::make_shared<AdminTarget>();
  CLI::App* parser = tenon.add_subcommand("resume", "let a process that `drain --keep` paused take traffic again");
  parser->footer(resume_footer);
  add_admin_target(*parser, *target);
  return {parser, [target] { return resume(*target); }};
}

}  // namespace tenon::cli
