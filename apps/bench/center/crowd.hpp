#pragma once
// Many clients of one center, in one process: each a registry "center" with a connection of its own, as the manifest of
// an application has it.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "histogram.hpp"
#include "tenon/app.hpp"
#include "tenon/registry.hpp"

namespace bench {

/// So many registries in one App, over so many connections. Threads: one; what registries do is on the App's.
class Crowd {
 public:
  /// Connects nobody yet.
  Crowd(std::string name, unsigned size, const std::string& plugins, const std::string& center);
  /// Builds the App and its registries, which connect. Fails with: what App::start() does.
  tenon::Result<void> start();

  unsigned size() const noexcept { return size_; }
  tenon::Registry& registry(unsigned index) const noexcept { return *registries_[index]; }
  tenon::Executor& executor() const noexcept { return *app_->executors().front(); }
  /// Lets go of the registries, on their thread.
  void end();

 private:
  const std::string name_;
  const unsigned size_;
  const std::string manifest_;
  std::unique_ptr<tenon::App> app_;
  std::vector<std::shared_ptr<tenon::Registry>> registries_;
};

/// The services and how many instances of each there are.
struct Offer {
  unsigned services = 0;
  unsigned instances = 0;  ///< of each service
  unsigned all() const noexcept { return services * instances; }
};

/// Announces an offer from all members of a crowd, each one's share, and changes it. Threads: one.
class Providers {
 public:
  Providers(Crowd& crowd, Offer offer) : crowd_(crowd), offer_(offer), leases_(offer.all()) {}
  /// Waits for the center's answers. False: some have failed.
  bool announce();
  /// Changes one instance of that service, whichever; who watches sees the moment. Not blocking.
  void update(unsigned service);
  /// All at once. False: some have failed within 20 s.
  bool withdraw();

 private:
  tenon::Instance instance(unsigned number) const;

  Crowd& crowd_;
  const Offer offer_;
  std::vector<std::unique_ptr<tenon::Lease>> leases_;  // the executor's
  std::minstd_rand random_;
};

/// Watches services of an offer from all members of a crowd, and says how long changes took. Everybody watches service
/// 0, and each so many others. Threads: one; observers are on the crowd's.
class Subscribers {
 public:
  Subscribers(Crowd& crowd, Offer offer, unsigned each) : crowd_(crowd), offer_(offer), each_(each) {}

  void watch();
  /// Ends all watches.
  void end();

  unsigned watches() const noexcept { return crowd_.size() * each_; }
  /// Watches whose last list is whole.
  unsigned complete() const noexcept { return complete_; }
  /// Lists that were shorter than the one before since the last time this was asked.
  unsigned shrunk() noexcept { return shrunk_.exchange(0); }

  /// How long changes took since the last time this was asked: nanoseconds from the provider's update to the observer.
  struct Latency {
    Histogram hot;  ///< of service 0, which everybody watches
    Histogram others;
  };
  Latency latency();

 private:
  struct Watched {
    unsigned service = 0;
    std::unique_ptr<tenon::Watch> watch;
    std::map<std::string, std::uint64_t> changed;  // the last change seen of each instance
    std::size_t instances = 0;
  };
  void hear(Watched& watched, const tenon::Result<tenon::Snapshot>& news);

  Crowd& crowd_;
  const Offer offer_;
  const unsigned each_;
  std::vector<std::unique_ptr<Watched>> watched_;  // the executor's
  std::atomic<unsigned> complete_{0};
  std::atomic<unsigned> shrunk_{0};
  std::mutex mutex_;
  Latency latency_;
};

}  // namespace bench
