// tenon bench: how fast calls go, payload by concurrency.

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "child.hpp"
#include "command.hpp"
#include "instance_figures.hpp"
#include "load.hpp"
#include "target.hpp"
#include "tenon/app.hpp"

namespace tenon::cli {
namespace {

struct BenchOptions {
  TargetOptions target;
  bool spawn = false;
  std::vector<unsigned> providers{1};
  LoadMode mode = LoadMode::coroutine;
  std::vector<unsigned> sizes{100};
  std::vector<unsigned> concurrency{1, 100, 10000};
  unsigned connections = 1;
  double seconds = 2;
  double warmup = 0.5;
  std::string preset;
  bool json = false;
  bool per_instance = false;
};

constexpr const char* service = "bench.Echo";
constexpr unsigned most_threads = 1000;

constexpr const char* footer =
    "Measures bench.Echo/Echo in closed loops: as many calls as --concurrency says are in flight, each is followed by\n"
    "the next at once. The callee is any server that runs plugin bench-echo; --spawn starts one (or several) of its "
    "own.\n"
    "Times are from the moment a call is made until its answer is decoded. mb_s counts payload bytes one way, 10^6.\n"
    "--per-instance draws a bar for each instance that attempts went to, retries among them; it costs some speed.\n"
    "\n"
    "Examples:\n"
    "  tenon bench --spawn\n"
    "  tenon bench --spawn --preset airrpc --json > figures.json\n"
    "  tenon bench --spawn --protocol motan2 --serializer simple --compress gzip\n"
    "  tenon bench --address tcp:127.0.0.1:4080 --mode sync --size 10,1000 --concurrency 1,8\n"
    "  tenon bench --manifest client.yaml --reference echo --per-instance\n"
    "\n"
    "Exit codes: 0 every call was answered, 1 calls failed or nobody answers, 2 wrong command line";

// One cell of the matrix.
struct Cell {
  unsigned providers;
  unsigned size;
  unsigned outstanding;
};

std::vector<Cell> cells_of(const BenchOptions& bench) {
  std::vector<Cell> cells;
  for (const unsigned providers : bench.providers)
    for (const unsigned size : bench.sizes)
      for (const unsigned outstanding : bench.concurrency) cells.push_back({providers, size, outstanding});
  return cells;
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Lines on stderr that are written over, when stderr is a terminal.
class ProgressLines {
 public:
  /// The first line, and whole lines below it.
  void show(const std::string& text, const std::string& below = {}) {
    if (!terminal_) return;
    std::string drawn;
    for (std::size_t i = 0; i < below_; ++i) drawn += "\033[A";
    drawn += "\r\033[J" + text + (below.empty() ? "" : "\n") + below;
    below_ = static_cast<std::size_t>(std::count(drawn.begin(), drawn.end(), '\n'));
    std::fprintf(stderr, "%s", drawn.c_str());
    std::fflush(stderr);
  }
  void clear() { show(""); }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  std::size_t below_ = 0;
};

std::size_t columns_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 120;
}

std::string reference_name(unsigned providers) { return "providers-" + std::to_string(providers); }

// Where the calls go: `most` addresses of our own servers, or what the command line says.
Result<AppOptions> app_options(const BenchOptions& bench, const std::vector<Child>& children) {
  TargetOptions target = bench.target;
  if (bench.spawn) target.address = children.front().address();
  if (target.timeout.empty()) target.timeout = "10s";
  Result<AppOptions> made = client_options(target, service);
  if (!made.ok()) return made;
  AppOptions options = std::move(*made);
  ReferenceOptions callee = options.client.references.at(target_name);
  options.client.references.clear();
  const unsigned most = *std::max_element(bench.concurrency.begin(), bench.concurrency.end());
  callee.connections = bench.connections;
  callee.max_in_flight = std::max(callee.max_in_flight, most);
  callee.max_unwritten = ByteSize(std::max<std::uint64_t>(callee.max_unwritten, 256u << 20));
  callee.limits.max_concurrent = std::max(callee.limits.max_concurrent, most);
  for (const unsigned providers : bench.providers) {
    if (bench.spawn) {
      callee.address.clear();
      for (unsigned i = 0; i < providers; ++i)
        callee.address += (i == 0 ? "" : ",") + split_address(children[i].address()).address;
    }
    options.client.references.emplace(reference_name(providers), callee);
  }
  return options;
}

void print_header() {
  std::printf("%9s %9s %11s %9s %12s %10s %10s %10s %10s %10s %8s\n", "providers", "bytes", "outstanding", "mode",
              "calls/s", "MB/s", "p50 us", "p90 us", "p99 us", "p99.9 us", "errors");
}

void print_row(const ::bench::Figures& figures) {
  const ::bench::Workload& workload = figures.workload;
  const ::bench::Histogram& latency = figures.latency;
  std::printf("%9u %9u %11u %9s %12.0f %10.2f %10.1f %10.1f %10.1f %10.1f %8llu\n", workload.providers, workload.size,
              workload.outstanding, workload.mode.c_str(), figures.calls_per_second(),
              figures.calls_per_second() * workload.size / 1e6, latency.quantile(0.5) / 1e3,
              latency.quantile(0.9) / 1e3, latency.quantile(0.99) / 1e3, latency.quantile(0.999) / 1e3,
              static_cast<unsigned long long>(figures.errors));
  std::fflush(stdout);
}

// Runs one cell; the reference is the App's.
LoadResult measure(const BenchOptions& bench, App& app, const Cell& cell, const std::string& at,
                   InstanceFigures& instances, ProgressLines& lines) {
  ::bench::Workload workload;
  workload.peer = "tenon";
  workload.size = cell.size;
  workload.outstanding = cell.outstanding;
  workload.connections = bench.connections;
  workload.providers = cell.providers;
  std::uint64_t before = 0;
  const auto progress = [&](std::uint64_t completed) {
    lines.show(at + std::to_string(cell.size) + " B x " + std::to_string(cell.outstanding) + ": " +
                   std::to_string((completed - before) * 5) + " calls/s",
               bench.per_instance ? bars_text(instances.shares(), columns_of(STDERR_FILENO)) : "");
    before = completed;
  };
  instances.begin(::bench::Window::after(bench.warmup, bench.seconds));
  LoadResult result = run_load(app.reference(reference_name(cell.providers)), bench.mode, workload, bench.warmup,
                               bench.seconds, progress);
  lines.clear();
  return result;
}

std::string json_of(const ::bench::Figures& figures, const std::vector<InstanceFigures::Share>* shares) {
  std::string json = ::bench::to_json(figures);
  if (shares) json.replace(json.size() - 1, 1, ",\"instances\":" + to_json(*shares) + "}");
  return json;
}

int run_cells(const BenchOptions& bench, App& app, InstanceFigures& instances) {
  const std::vector<Cell> cells = cells_of(bench);
  ProgressLines lines;
  std::string results;
  bool good = true;
  if (!bench.json) print_header();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    const std::shared_ptr<Reference> reference = app.reference(reference_name(cell.providers));
    if (Result<void> there = await_callee(reference, cell.size, std::chrono::seconds(2)); !there.ok())
      return complain("bench", there.error());
    const std::string at = "[" + std::to_string(i + 1) + "/" + std::to_string(cells.size()) + "] ";
    LoadResult result = measure(bench, app, cell, at, instances, lines);
    const std::vector<InstanceFigures::Share> shares = instances.shares();
    if (!bench.json) print_row(result.figures);
    if (!bench.json && bench.per_instance) std::printf("%s", bars_text(shares, columns_of(STDOUT_FILENO)).c_str());
    if (result.figures.errors != 0 || result.figures.latency.count() == 0) {
      good = false;
      std::fprintf(stderr, "tenon bench: %s: %llu of %llu calls failed%s%s\n", result.figures.workload.text().c_str(),
                   static_cast<unsigned long long>(result.figures.errors),
                   static_cast<unsigned long long>(result.figures.errors + result.figures.latency.count()),
                   result.first_error.empty() ? "" : "; the first: ", result.first_error.c_str());
    }
    results += (results.empty() ? "" : ",\n") + json_of(result.figures, bench.per_instance ? &shares : nullptr);
  }
  if (bench.json) std::printf("{\"results\":[%s]}\n", results.c_str());
  return good ? exit_ok : exit_failed;
}

Result<std::vector<Child>> spawn_servers(const BenchOptions& bench) {
  std::vector<Child> children;
  const unsigned most = *std::max_element(bench.providers.begin(), bench.providers.end());
  std::vector<std::string> arguments{"--listen", "tcp:127.0.0.1:0", "--load", "bench-echo", "--log-level", "error"};
  if (!bench.target.protocol.empty()) arguments.insert(arguments.end(), {"--protocol", bench.target.protocol});
  AppOptions needed = bare_options(bench.target.plugin_dir);
  const std::size_t usual = needed.plugins.load.size();
  load_by_name(needed, bench.target);
  std::vector<std::string> plugins = bench.target.plugins;
  plugins.insert(plugins.end(), needed.plugins.load.begin() + static_cast<std::ptrdiff_t>(usual),
                 needed.plugins.load.end());
  for (const std::string& plugin : plugins) arguments.insert(arguments.end(), {"--load", plugin});
  for (const std::string& directory : bench.target.plugin_dir)
    arguments.insert(arguments.end(), {"--plugin-dir", directory});
  for (unsigned i = 0; i < most; ++i) {
    Result<Child> child = Child::serve(arguments, std::chrono::seconds(20));
    if (!child.ok()) return std::move(child).error();
    children.push_back(std::move(*child));
  }
  return children;
}

int bench(BenchOptions bench) {
  if (bench.preset == "airrpc") {
    bench.sizes = {10, 100, 1000};
    bench.concurrency = {1, 100, 10000};
    bench.providers = {1, 2};
  }
  if (bench.mode == LoadMode::sync &&
      *std::max_element(bench.concurrency.begin(), bench.concurrency.end()) > most_threads)
    return misused("bench", "--mode sync takes one thread for each call in flight, at most " +
                                std::to_string(most_threads) + "; say --concurrency 1,100 or another mode");
  if (bench.per_instance && bench.mode == LoadMode::stream)
    return misused("bench", "--per-instance counts calls, and --mode stream measures messages");
  const bool has_target = !bench.target.address.empty() || !bench.target.manifest.empty();
  if (bench.spawn == has_target)
    return misused("bench", "say whom to measure: either --spawn, --address tcp:HOST:PORT or --manifest FILE");
  if (!bench.spawn && bench.providers != std::vector<unsigned>{1})
    return misused("bench", "--providers and --preset airrpc need --spawn; with --address list the providers there");
  raise_descriptor_limit();
  std::vector<Child> children;
  if (bench.spawn) {
    Result<std::vector<Child>> spawned = spawn_servers(bench);
    if (!spawned.ok()) return complain("bench", spawned.error());
    children = std::move(*spawned);
  }
  Result<AppOptions> options = app_options(bench, children);
  if (!options.ok()) return complain("bench", options.error());
  Result<std::unique_ptr<App>> app = App::create(std::move(*options));
  if (!app.ok()) return complain("bench", app.error());
  InstanceFigures instances;
  if (bench.per_instance)
    for (const unsigned providers : bench.providers)
      (*app)->watch_attempts(reference_name(providers),
                             [&instances](const Instance& instance, Duration took, const Error* error) {
                               instances.ended(instance, took, error != nullptr);
                             });
  if (Result<void> started = (*app)->start(); !started.ok()) return complain("bench", started.error());
  const int code = run_cells(bench, **app, instances);
  app->reset();  // before what its attempts are told to
  return code;
}

}  // namespace

Subcommand add_bench(CLI::App& tenon) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* parser = tenon.add_subcommand("bench", "measure calls, payload by concurrency");
  parser->footer(footer);
  add_target_options(*parser, options->target);
  parser->add_flag("--spawn", options->spawn, "start the servers that are measured, on loopback");
  parser->add_option("--providers", options->providers, "with --spawn: how many servers share the calls (1,2)")
      ->delimiter(',')
      ->check(CLI::Range(1, 16));
  const std::map<std::string, LoadMode> modes{
      {"coroutine", LoadMode::coroutine}, {"callback", LoadMode::callback}, {"sync", LoadMode::sync},
      {"stream", LoadMode::stream}};
  parser->add_option("--mode", options->mode, "coroutine, callback, sync or stream")
      ->transform(CLI::CheckedTransformer(modes));
  parser->add_option("--size", options->sizes, "payload bytes: 10,100,1000")
      ->delimiter(',')
      ->check(CLI::Range(0, 64 << 20));
  parser->add_option("--concurrency", options->concurrency, "calls in flight: 1,100,10000")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000));
  parser->add_option("--connections", options->connections, "for each provider")->check(CLI::Range(1, 1024));
  parser->add_option("--seconds", options->seconds, "length of one measurement")->check(CLI::Range(0.05, 3600.0));
  parser->add_option("--warmup", options->warmup, "seconds before it")->check(CLI::Range(0.0, 60.0));
  parser->add_option("--preset", options->preset, "airrpc: 10/100/1000 B x 1/100/10000 calls, one and two providers")
      ->check(CLI::IsMember({"airrpc"}));
  parser->add_flag("--per-instance", options->per_instance, "show what each instance got; with --json: instances");
  parser->add_flag("--json", options->json, "print {\"results\":[...]} instead of a table");
  return {parser, [options] { return bench(*options); }};
}

}  // namespace tenon::cli
