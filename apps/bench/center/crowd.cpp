#include "crowd.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <utility>

#include "client/detached.hpp"
#include "figures.hpp"
#include "loop/run_on.hpp"

namespace bench {

namespace {

constexpr auto patience = std::chrono::seconds(30);
constexpr const char* changed_key = "changed";

std::string manifest_of(const std::string& name, unsigned size, const std::string& plugins, const std::string& center) {
  std::string text = "application: " + name + "\nplugins: { search: [\"" + plugins +
                     "\"], load: [transport-tcp, protocol-tenon, serialize-pb, cluster, registry-center] }\n"
                     "log: { level: error }\nregistries:\n";
  for (unsigned i = 0; i < size; ++i)
    text += "  r" + std::to_string(i) + ": { use: center, server: c" + std::to_string(i) + " }\n";
  // As a registry's own address would be called; a reference each, and so a connection each.
  text += "client:\n  references:\n";
  for (unsigned i = 0; i < size; ++i)
    text += "    c" + std::to_string(i) + ": { service: tenon.Center, address: \"" + center +
            "\", max_reconnect_pause: 2s }\n";
  return text;
}

tenon::ServiceName service_of(unsigned number) {
  return tenon::ServiceName{"bench.Service" + std::to_string(number), "bench", "1.0"};
}

/// Counts what is to end.
class Countdown {
 public:
  explicit Countdown(unsigned count) : left_(count) {}
  void done(bool good) {
    const std::lock_guard lock(mutex_);
    failed_ += good ? 0 : 1;
    if (--left_ == 0) zero_.notify_all();
  }
  /// False: not all ended well within the patience.
  bool wait() {
    std::unique_lock lock(mutex_);
    return zero_.wait_for(lock, patience, [&] { return left_ == 0; }) && failed_ == 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable zero_;
  unsigned left_;
  unsigned failed_ = 0;
};

tenon::Task<void> announce_one(tenon::Registry& registry, tenon::ServiceName service, tenon::Instance instance,
                               std::unique_ptr<tenon::Lease>& lease, std::shared_ptr<Countdown> all) {
  tenon::Task<tenon::Result<std::unique_ptr<tenon::Lease>>> announcing =
      registry.announce(service, std::move(instance));
  tenon::Result<std::unique_ptr<tenon::Lease>> announced = co_await announcing;
  if (announced.ok()) lease = std::move(*announced);
  all->done(announced.ok());
}

tenon::Task<void> withdraw_one(tenon::Lease& lease, tenon::TimePoint until, std::shared_ptr<Countdown> all) {
  tenon::Task<tenon::Result<void>> withdrawing = lease.withdraw(until);
  const tenon::Result<void> withdrawn = co_await withdrawing;
  all->done(withdrawn.ok());
}

}  // namespace

Crowd::Crowd(std::string name, unsigned size, const std::string& plugins, const std::string& center)
    : name_(std::move(name)), size_(size), manifest_(manifest_of(name_, size, plugins, center)) {}

tenon::Result<void> Crowd::start() {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / (name_ + "-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << manifest_;
  auto app = tenon::App::from_manifest(file);
  std::filesystem::remove(file);
  if (!app.ok()) return std::move(app).error();
  app_ = std::move(*app);
  if (auto started = app_->start(); !started.ok()) return started;
  for (unsigned i = 0; i < size_; ++i) {
    auto registry = app_->registry("r" + std::to_string(i));
    if (!registry.ok()) return std::move(registry).error();
    registries_.push_back(std::move(*registry));
  }
  return {};
}

void Crowd::end() {
  if (!app_) return;
  tenon::run_on(executor(), [&] { registries_.clear(); });
  app_.reset();
}

tenon::Instance Providers::instance(unsigned number) const {
  tenon::Instance made;
  made.address = "10." + std::to_string(number / 65536) + "." + std::to_string(number / 256 % 256) + "." +
                 std::to_string(number % 256) + ":4080";
  made.id = made.address + "/0123456789abcdef";
  made.transport = "tcp";
  made.protocols = {"tenon", "motan2"};
  made.metadata = {{"zone", "a"}, {changed_key, "0"}};
  return made;
}

bool Providers::announce() {
  const auto all = std::make_shared<Countdown>(offer_.all());
  tenon::run_on(crowd_.executor(), [&] {
    // The instances of a service belong to different members.
    for (unsigned number = 0; number < offer_.all(); ++number)
      tenon::center::run_detached(announce_one(crowd_.registry(number % crowd_.size()),
                                               service_of(number % offer_.services), instance(number), leases_[number],
                                               all));
  });
  return all->wait();
}

void Providers::update(unsigned service) {
  struct Update : tenon::Work {
    Providers* providers = nullptr;
    unsigned number = 0;
  };
  auto* update = new Update;
  update->providers = this;
  update->number = service + offer_.services * static_cast<unsigned>(random_() % offer_.instances);
  update->run = [](tenon::Work* work) noexcept {
    const std::unique_ptr<Update> self(static_cast<Update*>(work));
    tenon::Instance changed = self->providers->instance(self->number);
    changed.metadata[changed_key] = std::to_string(now());
    if (self->providers->leases_[self->number]) self->providers->leases_[self->number]->update(std::move(changed));
  };
  crowd_.executor().post(*update);
}

bool Providers::withdraw() {
  const auto all = std::make_shared<Countdown>(offer_.all());
  tenon::run_on(crowd_.executor(), [&] {
    const tenon::TimePoint until = crowd_.executor().clock().now() + patience;
    for (const std::unique_ptr<tenon::Lease>& lease : leases_)
      if (lease)
        tenon::center::run_detached(withdraw_one(*lease, until, all));
      else
        all->done(false);
  });
  const bool good = all->wait();
  tenon::run_on(crowd_.executor(), [&] { leases_.clear(); });
  return good;
}

void Subscribers::watch() {
  tenon::run_on(crowd_.executor(), [&] {
    for (unsigned number = 0; number < watches(); ++number) {
      auto watched = std::make_unique<Watched>();
      // Everybody's first is service 0; the others follow one another.
      if (number % each_ != 0) watched->service = 1 + number % (offer_.services - 1);
      auto watch = crowd_.registry(number / each_)
                       .watch({service_of(watched->service), "bench"},
                              [this, one = watched.get()](const auto& news) { hear(*one, news); });
      if (watch.ok()) watched->watch = std::move(*watch);
      watched_.push_back(std::move(watched));
    }
  });
}

void Subscribers::end() {
  tenon::run_on(crowd_.executor(), [&] { watched_.clear(); });
}

void Subscribers::hear(Watched& watched, const tenon::Result<tenon::Snapshot>& news) {
  if (!news.ok()) return;  // what is known stays
  const std::uint64_t heard = now();
  if (news->instances.size() < watched.instances) ++shrunk_;
  const bool was_complete = watched.instances == offer_.instances;
  watched.instances = news->instances.size();
  const bool is_complete = watched.instances == offer_.instances;
  if (is_complete && !was_complete) ++complete_;
  if (!is_complete && was_complete) --complete_;
  const std::lock_guard lock(mutex_);
  for (const tenon::Instance& instance : news->instances) {
    const auto text = instance.metadata.find(changed_key);
    const std::uint64_t changed = text == instance.metadata.end() ? 0 : std::stoull(text->second);
    std::uint64_t& before = watched.changed[instance.id];
    if (changed == before) continue;
    before = changed;
    (watched.service == 0 ? latency_.hot : latency_.others).add(heard - changed);
  }
}

Subscribers::Latency Subscribers::latency() {
  const std::lock_guard lock(mutex_);
  return std::exchange(latency_, Latency());
}

}  // namespace bench
