#include "tenon/app.hpp"

#include <algorithm>

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

void App::watch_attempts(const std::string& reference, AttemptSeen seen) {
  parts_->attempt_watchers[reference] = std::move(seen);
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

void App::catch_signals() { parts_->catch_signals(); }

int App::wait() {
  catch_signals();
  StopRequests& requests = *parts_->requests;
  requests.wait();
  const Duration until_end = requests.deadline() - std::chrono::steady_clock::now();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_end);
  parts_->log->info("stopping", "received " + requests.who() + "; finishing calls in flight, at most " +
                                    std::to_string(std::max<std::int64_t>(left.count(), 0)) +
                                    " ms (a second signal forces the end)");
  const bool good = parts_->stop(Duration{0}, &requests);
  requests.rest();
  return good ? 0 : 1;
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
