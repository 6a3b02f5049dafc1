#include "tenon/app.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "app/parts.hpp"
#include "loop/run_on.hpp"

namespace tenon {

App::App(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
App::~App() = default;

Result<std::unique_ptr<App>> App::create(AppOptions options) {
  auto parts = std::make_unique<Parts>(std::move(options));
  if (auto opened = parts->open(); !opened.ok()) return std::move(opened).error();
  return std::unique_ptr<App>(new App(std::move(parts)));
}

Result<std::unique_ptr<App>> App::from_manifest(const std::filesystem::path& file) {
  auto options = load_manifest(file.string());
  if (!options.ok()) return std::move(options).error();
  return create(std::move(*options));
}

void App::provide(std::shared_ptr<Service> service) { parts_->provided.push_back(std::move(service)); }

Result<void> App::provide_from_plugins() {
  for (const std::string_view name : parts_->host->catalog().names(Service::kind)) {
    auto service = parts_->builder->make<Service>(Component(std::string(name)), "service " + std::string(name));
    if (!service.ok()) return std::move(service).error();
    parts_->provided.push_back(std::move(*service));
  }
  return {};
}

Result<void> App::start() { return parts_->start(); }

std::shared_ptr<Reference> App::reference(std::string_view name) { return parts_->reference(std::string(name)); }

std::vector<std::string> App::addresses() const {
  return parts_->server ? parts_->server->addresses() : std::vector<std::string>();
}

std::vector<Announcement> App::announcements() const {
  return parts_->announcements ? parts_->announcements->list() : std::vector<Announcement>();
}

Result<void> App::update_announcement(const ServiceName& service, const AnnouncementChange& change) {
  return parts_->announcements->update(service, change);
}

bool App::stop(Duration grace) { return parts_->stop(grace, nullptr); }

void App::catch_signals() {
  if (!parts_->signals) parts_->signals = std::make_unique<StopSignals>();
}

namespace {

/// Ends the process when stopping takes longer than it may: a handler that blocks its io thread leaves no other way.
class Watchdog {
 public:
  Watchdog(Log& log, Duration limit, const std::atomic<int>& signals)
      : thread_([this, &log, limit, &signals] { watch(log, limit, signals); }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void watch(Log& log, Duration limit, const std::atomic<int>& signals) {
    const auto begun = std::chrono::steady_clock::now();
    auto until = begun + limit;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(20), [this] { return stopped_; })) {
      const auto now = std::chrono::steady_clock::now();
      if (signals.load() > 1) until = std::min(until, std::max(forced_, now) + std::chrono::milliseconds(500));
      if (signals.load() > 1 && forced_ == std::chrono::steady_clock::time_point()) forced_ = now;
      if (now < until) continue;
      log.error("stuck", "an io thread does not answer (a handler blocks it?); the process ends without it");
      std::_Exit(1);
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point forced_;
  std::thread thread_;
};

}  // namespace

int App::wait() {
  catch_signals();
  const StopSignals& signals = *parts_->signals;
  signals.wait_for_first();
  const Duration grace = parts_->options.server.grace;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(grace).count();
  parts_->log->info("stopping", std::string("received ") + signals.name() + "; finishing calls in flight, at most " +
                                    std::to_string(ms) + " ms (a second signal forces the end)");
  const Watchdog watchdog(*parts_->log, grace + std::chrono::milliseconds(800), signals.count());
  return parts_->stop(grace, &signals.count()) ? 0 : 1;
}

AppCounts App::counts() const {
  AppCounts counts;
  if (parts_->server) {
    counts.server_connections = parts_->server->settings().connections.load();
    counts.server_calls = parts_->server->settings().in_flight.load();
  }
  for (const auto& loop : parts_->loops) {
    const auto [calls, orphans] = run_on(*loop, [&loop] { return std::pair(loop->outstanding, loop->orphans); });
    counts.client_calls += calls;
    counts.client_orphans += orphans;
  }
  return counts;
}

std::vector<PoolCounts> App::pools() const {
  std::vector<PoolCounts> all;
  if (parts_->server)
    for (const auto& [name, pool] : parts_->server->settings().pools) all.push_back(pool->counts());
  return all;
}

const AppOptions& App::options() const noexcept { return parts_->options; }

std::vector<CatalogEntry> App::catalog() const {
  std::vector<CatalogEntry> entries;
  for (const plugin_host::LoadedEntry* loaded : parts_->host->catalog().all()) entries.push_back(loaded->entry);
  return entries;
}

Result<std::shared_ptr<Serializer>> App::serializer(const std::string& name) {
  return parts_->builder->make<Serializer>(Component(name), "serializer");
}

Result<std::shared_ptr<Registry>> App::registry(const std::string& name) {
  return run_on(*parts_->loops.front(), [&] { return parts_->builder->named<Registry>(name); });
}

Result<std::shared_ptr<Router>> App::router(const Component& component) {
  return run_on(*parts_->loops.front(), [&] { return parts_->builder->make<Router>(component, "router"); });
}

Log& App::log() noexcept { return *parts_->log; }

std::vector<Executor*> App::executors() const {
  std::vector<Executor*> all;
  for (const auto& loop : parts_->loops) all.push_back(loop.get());
  return all;
}

}  // namespace tenon
