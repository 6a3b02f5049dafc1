#pragma once
// What every subcommand of `tenon` shares: how it is added and which code the process ends with.

#include <functional>
#include <string>
#include <string_view>

#include "tenon/result.hpp"

namespace CLI {
class App;
}

namespace tenon::cli {

// Exit codes, the same for every subcommand; documented in `tenon --help`.
inline constexpr int exit_ok = 0;      ///< it worked
inline constexpr int exit_failed = 1;  ///< understood and tried, but it failed: a call, a port, a peer
inline constexpr int exit_usage = 2;   ///< wrong command line, manifest or plugin: nothing was tried

/// A subcommand: its part of the command line, and what runs when it was chosen. `run` returns the exit code and has
/// told stderr why it is not 0.
struct Subcommand {
  CLI::App* parser = nullptr;
  std::function<int()> run;
};

Subcommand add_serve(CLI::App& tenon);
Subcommand add_call(CLI::App& tenon);
Subcommand add_check(CLI::App& tenon);
Subcommand add_plugins(CLI::App& tenon);
Subcommand add_bench(CLI::App& tenon);
Subcommand add_new(CLI::App& tenon);
Subcommand add_stats(CLI::App& tenon);
Subcommand add_top(CLI::App& tenon);
Subcommand add_health(CLI::App& tenon);
Subcommand add_drain(CLI::App& tenon);
Subcommand add_resume(CLI::App& tenon);
Subcommand add_registry(CLI::App& tenon);
Subcommand add_command(CLI::App& tenon);
Subcommand add_rule(CLI::App& tenon);
Subcommand add_route(CLI::App& tenon);
Subcommand add_center(CLI::App& tenon);

/// Writes "tenon WHO: errc: text" to stderr, with a foreign system's own code "tenon WHO: errc (motan 30001): text"
/// ("file:line:col" lines of a manifest stay as they are). Returns exit_usage for Errc::config, else exit_failed.
int complain(std::string_view who, const Error& error);
/// Writes "tenon WHO: text" to stderr and returns exit_usage.
int misused(std::string_view who, const std::string& text);

}  // namespace tenon::cli
