#include "app/parts.hpp"

#include <algorithm>
#include <thread>

#include "app/cache_folder.hpp"
#include "client/endpoint.hpp"
#include "client/reference_invoker.hpp"
#include "loop/run_on.hpp"
#include "loop/wait_for.hpp"
#include "manifest/node.hpp"

namespace tenon {

namespace {
constexpr Duration withdrawing = std::chrono::seconds(2);
/// Until consumers that listen to a registry have let go of an instance that was withdrawn.
constexpr Duration hearing = std::chrono::milliseconds(300);
/// For what is under way in references when they close.
constexpr Duration closing = std::chrono::seconds(2);

TimePoint now() { return std::chrono::steady_clock::now(); }
}  // namespace

// "file:line:col: path" of something written in a manifest, else its path.
std::string App::Parts::place_of(const std::string& path) const {
  const manifest::Node* const node = options.source ? options.source->find(path) : nullptr;
  return node ? manifest::at(manifest::Place{options.source, node, path}) + ": " + path : path;
}

App::Parts::Parts(AppOptions chosen) : options(std::move(chosen)) {}

App::Parts::~Parts() {
  if (loops.empty()) return;
  if (requests) requests->resume();
  stop(Duration{0}, nullptr);
  admin_.reset();
  close_references();
  // Who was told to stop leaves himself time to say what does not end.
  const TimePoint last = requests && requests->asked() ? requests->end() - hearing : never;
  if (left_behind_ || !quiet(std::min(closing, last - now())) || (server && !server->idle())) {
    // Something never ends: a handler, a resolver. It may still refer to all of this; leaking it is the lesser evil.
    log->error("left-behind", "calls or connection attempts have not ended; the application's memory is left behind");
    for (const auto& loop : loops) loop->stop();
    (void)server.release();
    (void)builder.release();
    (void)log.release();
    for (auto& [name, reference] : references_) new std::shared_ptr<BoundReference>(reference);
    if (announcements) announcements->abandon();
    for (auto& loop : loops) new std::shared_ptr<Loop>(loop);
    return;
  }
  if (server) server->stop_pools();
  announcements.reset();
  for (auto& [name, reference] : references_)
    run_on(reference->loop(), [&reference = reference] { reference->release(); });
  run_on(control(), [this] { builder.reset(); });
  (void)quiet(std::chrono::milliseconds(100));
  for (const auto& loop : loops) loop->stop();
}

// New calls are refused, calls in flight fail now: nobody is left to wait for them.
void App::Parts::close_references() {
  for (auto& [name, reference] : references_)
    run_on(reference->loop(), [&reference = reference] { reference->close(); });
  const Error reason(Errc::unavailable, "the application is stopping", Delivery::not_run, Advice::never);
  for (const auto& settings : endpoint_settings_)
    run_on(*settings->loop, [&settings, &reason] {
      const auto endpoints = settings->endpoints;
      for (RemoteEndpoint* endpoint : endpoints)
        if (std::ranges::find(settings->endpoints, endpoint) != settings->endpoints.end()) endpoint->cut(reason);
    });
}

// Waits until no call and no connection attempt is under way.
bool App::Parts::quiet(Duration limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  for (const auto& loop : loops)
    while (run_on(*loop, [&loop] { return loop->outstanding; }) != 0) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  // Handlers in pools end a moment after the calls they made.
  const auto last = std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds(300));
  while (server && !server->settings().pools.empty() && !server->idle() && std::chrono::steady_clock::now() < last)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

Result<void> App::Parts::open() {
  AppOptions given = options;
  apply_defaults(options);
  if (auto checked = check(options); !checked.ok()) return checked;
  if (!options.client.cache.empty())
    if (auto made = make_cache_folder(options.client.cache); !made.ok())
      return std::move(made).error().prefix(place_of("client.cache"));
  auto opened_log = open_log(options.log);
  if (!opened_log.ok()) return std::move(opened_log).error();
  log = std::move(*opened_log);
  host = std::make_unique<plugin_host::PluginHost>(options.plugins);
  if (auto loaded = host->load_all(); !loaded.ok()) return loaded;
  for (std::uint32_t i = 0; i < options.runtime.io_threads; ++i) {
    loops.push_back(std::make_shared<Loop>());
    loops.back()->start();
  }
  facts_ = std::make_shared<admin::AppFacts>(std::move(given), options, *host, loops);
  announcements = std::make_unique<Announcements>(control(), *log);
  facts_->announces(*announcements);
  const Environment environment{control(), *log, control().clock()};
  builder = std::make_unique<ComponentBuilder>(*host, environment);
  for (const auto& [name, component] : options.registries)
    builder->name(std::string(Registry::kind), name, component, "registries." + name);
  for (const auto& [kind, components] : options.components)
    for (const auto& [name, component] : components)
      builder->name(kind, name, component, "components." + kind + "." + name);
  builder->provide(std::string(Invoker::kind), [this](std::string_view name) -> Result<std::shared_ptr<void>> {
    const auto chosen = options.client.references.find(std::string(name));
    ReferenceOptions at_address;
    if (chosen == options.client.references.end()) {
      if (name.find(':') == std::string_view::npos) return std::shared_ptr<void>();
      // An address. Whoever depends on it wants it back soon after it was away.
      at_address.service = name;
      at_address.address = name;
      at_address.max_reconnect_pause = std::chrono::seconds(2);
      apply_defaults(at_address);
    }
    auto opened = open_reference(std::string(name), at_address.address.empty() ? chosen->second : at_address,
                                 Usage::by_component);
    if (!opened.ok()) return std::move(opened).error();
    std::shared_ptr<Invoker> invoker = std::make_shared<ReferenceInvoker>(*opened);
    return std::static_pointer_cast<void>(std::move(invoker));
  });
  return {};
}

Result<void> App::Parts::start() {
  if (started_) return Error(Errc::already_exists, "the application was started already");
  started_ = true;
  // First, so that it can be asked why the rest takes long.
  if (options.admin)
    if (auto opened = open_admin(); !opened.ok()) return opened;
  for (const auto& [name, component] : options.registries) {
    if (auto on = go_on(); !on.ok()) return on;
    auto registry = run_on(control(), [&] { return builder->named<Registry>(name); });
    if (!registry.ok()) return std::move(registry).error();
  }
  // Listen, warm up, accept, then connect (perhaps to ourselves), and announce last: nobody is sent here before we can
  // serve.
  if (!options.server.listen.empty()) {
    if (auto built = build_server(); !built.ok()) return built;
    if (auto warm = warm_up(); !warm.ok()) return warm;
    if (auto on = go_on(); !on.ok()) return on;
    server->start();
    facts_->serves(*server);
  }
  if (auto opened = open_references(); !opened.ok()) return opened;
  if (auto on = go_on(); !on.ok()) return on;
  if (server)
    if (auto announced = announce(); !announced.ok()) return announced;
  facts_->enter(admin::Phase::ready);
  return {};
}

void App::Parts::catch_signals() {
  if (requests) return;
  requests = std::make_unique<StopRequests>(*log, options.server.grace);
  facts_->is_stopped_by(*requests);
}

Result<void> App::Parts::go_on() const {
  if (!requests || !requests->asked()) return {};
  return Error(Errc::cancelled, "told to stop (" + requests->who() + ") before it was started", Delivery::not_run,
               Advice::never);
}

Result<std::shared_ptr<const Encodings>> App::Parts::encodings(std::size_t limit) {
  std::vector<std::shared_ptr<const Serializer>> serializers;
  for (const std::string_view name : host->catalog().names(Serializer::kind)) {
    auto made = builder->make<Serializer>(Component(std::string(name)), "serializer");
    if (!made.ok()) return std::move(made).error();
    serializers.push_back(std::move(*made));
  }
  std::vector<std::shared_ptr<const Compressor>> compressors;
  for (const std::string_view name : host->catalog().names(Compressor::kind)) {
    auto made = builder->make<Compressor>(Component(std::string(name)), "compressor");
    if (!made.ok()) return std::move(made).error();
    compressors.push_back(std::move(*made));
  }
  return std::make_shared<const Encodings>(std::move(serializers), std::move(compressors), limit);
}

std::shared_ptr<Reference> App::Parts::reference(const std::string& name) {
  std::string known;
  {
    std::lock_guard lock(references_mutex_);
    if (const auto found = references_.find(name); found != references_.end()) return found->second;
  }
  const auto chosen = options.client.references.find(name);
  Error reason;
  if (chosen != options.client.references.end()) {
    // Asked for before start(): built now.
    auto opened = run_on(control(), [&] { return open_reference(chosen->first, chosen->second, Usage::by_callers); });
    if (opened.ok()) return *opened;
    reason = std::move(opened).error();
  } else {
    for (const auto& [other, options_of_it] : options.client.references) known += (known.empty() ? "" : ", ") + other;
    reason = Error(Errc::config,
                   "there is no reference \"" + name + "\" in client.references (there " +
                       (known.empty() ? "are none" : "is: " + known) + ")",
                   Delivery::not_run, Advice::never);
  }
  return std::make_shared<RefusedReference>(std::move(reason), control());
}

bool App::Parts::stop(Duration grace, const StopRequests* told) {
  if (stopped_ || loops.empty()) return all_answered_;
  stopped_ = true;
  facts_->enter(admin::Phase::draining);
  all_answered_ = drain(grace, told);
  facts_->enter(admin::Phase::stopped);
  return all_answered_;
}

bool App::Parts::drain(Duration grace, const StopRequests* told) {
  const TimePoint given = now() + grace;
  // Whoever asks again may shorten it.
  const auto until = [&] { return told ? told->deadline() : given; };
  const auto forced = [told] { return told && told->forced(); };
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  // Withdraw first, so that nobody new is sent here. A registry that does not answer must not use up the time of the
  // calls in flight.
  const bool announced = !announcements->list().empty();
  const Duration left = std::max(until() - now(), Duration{0});
  if (!announcements->withdraw(now() + std::min(left / 2, withdrawing))) {
    left_behind_ = true;
    log->warn("withdraw", "a registry does not say whether this application is withdrawn; it is not waited for");
  }
  if (!server) return true;
  // Those who hear of it let go of their connections; what they have sent until then is served as before.
  const TimePoint heard = now() + (announced ? std::min(left / 4, hearing) : Duration{0});
  while (!server->idle() && !forced() && now() < std::min(heard, until())) pause();
  const Error reason(Errc::unavailable, "the server is stopping", Delivery::not_run, Advice::other_instance);
  server->drain(reason);
  for (const auto& offered : server->settings().dispatcher.services()) offered->service().draining();
  // Where the protocol has no goodbye, what is sent all the same is refused, so that it can be sent elsewhere, instead
  // of lost.
  const TimePoint patience = std::min(until(), now() + hearing);
  while (!server->idle() && !forced() && now() < until()) {
    if (server->answered() && now() >= patience) break;
    pause();
  }
  const std::size_t cut_off = server->settings().in_flight.load();
  if (cut_off != 0) log->warn("grace-over", std::to_string(cut_off) + " calls were cut off");
  server->force(reason);
  // Handlers that listen to their cancellation end now.
  const TimePoint last = now() + std::chrono::milliseconds(500);
  while (!server->idle() && !forced() && now() < last) pause();
  return cut_off == 0;
}

}  // namespace tenon
