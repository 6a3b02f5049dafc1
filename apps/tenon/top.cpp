// tenon top: what a running process says of itself, again and again.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "admin_client.hpp"
#include "command.hpp"
#include "manifest/scalar.hpp"
#include "screen.hpp"
#include "stats_text.hpp"

namespace tenon::cli {
namespace {

constexpr const char* footer =
    "On a terminal the table is drawn anew every second; q, Ctrl-C or SIGTERM end it, and the terminal is as it was. "
    "A\n"
    "process that goes away is waited for. Without a terminal the tables are printed one below the other, and a "
    "process\n"
    "that does not answer is the end.\n"
    "\n"
    "ADDRESS is what the process has as admin.listen in its manifest. Only its user and root may ask.\n"
    "\n"
    "Examples:\n"
    "  tenon top unix:/run/greeter/admin.sock\n"
    "  tenon top --manifest server.yaml --interval 250ms\n"
    "  tenon top /run/greeter/admin.sock --count 60 > minute.txt\n"
    "\n"
    "Exit codes: 0 ended as asked, 1 nobody answers, 2 wrong command line or manifest";

constexpr Duration shortest_interval = std::chrono::milliseconds(100);

struct TopOptions {
  AdminTarget target;
  std::string interval{"1s"};
  std::uint32_t limit = 20;
  std::uint64_t count = 0;  // 0: for ever
  bool once = false;
};

/// An answer, and when it came.
struct Frame {
  admin::Stats stats;
  std::chrono::steady_clock::time_point at;
};

std::string text_of(const Frame& frame, const std::optional<Frame>& before) {
  const double seconds = before ? std::chrono::duration<double>(frame.at - before->at).count() : 0;
  const admin::Stats& stats = frame.stats;
  std::string text = state_text(stats.app);
  if (!stats.pools.empty()) text += '\n' + pools_text(stats.pools);
  if (!stats.references.empty())
    text += '\n' + references_text(stats.references, before ? &before->stats.references : nullptr, seconds);
  return text + '\n' + connections_text(stats.connections);
}

int watch(const TopOptions& options, Duration interval) {
  Screen screen(!options.once);  // before the client's threads
  auto client = AdminClient::open(options.target);
  if (!client.ok()) return complain("top", client.error());
  std::optional<Frame> last;
  std::string text;
  const std::uint64_t count = options.once ? 1 : options.count;
  for (std::uint64_t shown = 0; count == 0 || shown < count; ++shown) {
    if (shown > 0 && !screen.pause(interval)) return exit_ok;
    auto stats = (*client)->ask<admin::Stats>("stats", options.limit);
    if (stats.ok()) {
      Frame frame{std::move(*stats), std::chrono::steady_clock::now()};
      text = text_of(frame, last);
      last = std::move(frame);
    } else if (last && screen.redraws()) {
      text = "no answer: " + stats.error().text() + '\n';
    } else {
      return complain("top", stats.error());
    }
    if (shown > 0 && !screen.redraws()) text.insert(0, "\n");
    if (!screen.show(text)) return complain("top", Error(Errc::unavailable, "standard output is closed"));
  }
  screen.leave();
  if (screen.redraws()) std::printf("%s", text.c_str());  // it vanished with the screen
  return exit_ok;
}

int top(const TopOptions& options) {
  Duration interval{0};
  if (const std::string fault = manifest::parse_duration(options.interval, interval); !fault.empty())
    return misused("top", "--interval " + options.interval + ": expected " + fault);
  if (interval < shortest_interval || interval > std::chrono::hours(24))
    return misused("top", "--interval " + options.interval + ": must be from 100ms to 24h");
  return watch(options, interval);
}

}  // namespace

Subcommand add_top(CLI::App& tenon) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* parser = tenon.add_subcommand("top", "watch what a running process is doing");
  parser->footer(footer);
  add_admin_target(*parser, options->target);
  parser->add_option("--interval", options->interval, "between two looks (default 1s)")->type_name("TIME");
  parser->add_option("--limit", options->limit, "connections shown, the busiest first (default 20)")
      ->check(CLI::Range(0, 1000));
  CLI::Option* count = parser->add_option("--count", options->count, "end after so many looks");
  count->check(CLI::PositiveNumber);
  parser->add_flag("--once", options->once, "one look: --count 1")->excludes(count);
  return {parser, [options] { return top(*options); }};
}

}  // namespace tenon::cli
