#include "caller.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

#include "figures.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

const tenon::ServiceName probed{"bench.Probe", "bench", ""};
constexpr const char* changed_key = "changed";

}  // namespace

Caller::Caller(const std::string& plugins, const std::string& center) {
  tenon::AppOptions options;
  options.application = "bench-center";
  options.plugins.search = {plugins};
  options.plugins.load = {"transport-tcp", "protocol-tenon", "serialize-pb", "cluster"};
  options.plugins.probe = false;
  options.log.level = tenon::LogLevel::error;
  tenon::ReferenceOptions reference;
  reference.service = tenon::center::interface;
  reference.address = center;
  reference.transport = tenon::Component("tcp");
  reference.timeout = 2s;
  reference.max_reconnect_pause = 100ms;
  options.client.references["center"] = reference;
  auto app = tenon::App::create(std::move(options));
  tenon::Result<void> started;
  if (app.ok()) started = (*app)->start();
  if (!app.ok() || !started.ok()) {
    std::fprintf(stderr, "%s\n", (app.ok() ? started.error() : app.error()).text().c_str());
    return;
  }
  app_ = std::move(*app);
  reference_ = app_->reference("center");
  calls_ = std::make_unique<tenon::center::Calls>(reference_);
}

tenon::Result<tenon::center::State> Caller::state() const {
  return tenon::ClientFunction<tenon::center::State()>(reference_, "state")();
}

tenon::center::ClientKey new_key() {
  static std::atomic<unsigned> keys{0};
  char id[33];
  std::snprintf(id, sizeof id, "%032x", ++keys);
  return {id, std::string(32, '7')};
}

tenon::CallOptions long_lasting() {
  tenon::CallOptions options;
  options.timeout = 1h;
  return options;
}

Probe::Probe(const std::string& plugins, const std::string& center)
    : provider_(plugins, center), subscriber_(plugins, center), providers_(new_key()), subscribers_(new_key()) {
  if (!provider_.good() || !subscriber_.good()) return;
  providing_ = std::thread([this] { provide(); });
  subscribing_ = std::thread([this] { subscribe(); });
}

void Probe::stop() {
  if (stopped_.exchange(true) || !providing_.joinable()) return;
  // Its stream ends with the client, or with the connection.
  (void)subscriber_.calls().close(subscribers_);
  (void)provider_.calls().close(providers_);
  providing_.join();
  subscribing_.join();
}

Histogram Probe::latency() {
  const std::lock_guard lock(mutex_);
  return std::exchange(latency_, Histogram());
}

void Probe::provide() {
  tenon::Instance instance;
  instance.id = instance.address = "10.9.9.9:4080";
  instance.transport = "tcp";
  instance.protocols = {"tenon"};
  while (!stopped_) {
    instance.metadata[changed_key] = std::to_string(now());
    const auto updated = provider_.calls().update(providers_, probed, instance);
    if (!updated.ok() && !stopped_) (void)provider_.calls().open({providers_, "probe/1", ""});
    std::this_thread::sleep_for(50ms);
  }
}

void Probe::subscribe() {
  std::string before;
  while (!stopped_) {
    tenon::center::List list;
    if (subscriber_.calls().open({subscribers_, "probe/2", ""}).ok()) {
      auto lists = subscriber_.calls().watch.call(long_lasting(), subscribers_, probed, "probe");
      for (auto more = lists.next(list); more.ok() && *more && !stopped_; more = lists.next(list)) {
        const std::uint64_t heard = now();
        for (const tenon::Instance& instance : list.instances) {
          const std::string& changed = instance.metadata.at(changed_key);
          if (std::exchange(before, changed) == changed) continue;
          const std::lock_guard lock(mutex_);
          latency_.add(heard - std::stoull(changed));
        }
        (void)subscriber_.calls().beat(subscribers_);  // it is not silent
      }
    }
    std::this_thread::sleep_for(20ms);
  }
}

}  // namespace bench
