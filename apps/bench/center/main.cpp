// Figures of a registry center, of its own process, with many services and many subscribers:
//   bench-center [--scale PERCENT]
//
// 2000 services of 5 instances from 100 providers, 500 subscribers of 20 services each, all over connections of their
// own on loopback: push latency, memory, restarts, and clients that come and go. Exit codes: 0 everything came to its
// end as it should, 1 something did not (it says "FAILED"), 2 wrong command line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "churn.hpp"
#include "storm.hpp"

namespace {

using namespace bench;
using namespace std::chrono_literals;

constexpr unsigned each = 20;       // services a subscriber follows
constexpr unsigned rate = 100;      // changes a second
constexpr double latest = 2000;     // ms a change may take while everybody comes back, 99 of 100
constexpr std::size_t flat = 4096;  // KiB that memory may grow by in the second half

bool all_good = true;
void expect(bool good, const char* what) {
  if (good) return;
  all_good = false;
  std::printf("  FAILED: %s\n", what);
}

double ms(double nanoseconds) { return nanoseconds / 1e6; }
void print(const char* what, const Histogram& latency) {
  std::printf("  %-42s p50 %8.2f ms  p99 %8.2f ms  max %8.2f ms  (%llu)\n", what, ms(latency.quantile(0.5)),
              ms(latency.quantile(0.99)), ms(static_cast<double>(latency.max())),
              static_cast<unsigned long long>(latency.count()));
}

bool eventually(const std::function<bool()>& condition) {
  for (const auto until = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(20ms))
    if (condition()) return true;
  return false;
}

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("bench-center-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

void print(const Storm& storm, const Expected& expected) {
  std::printf(
      "  clients back from %.1f to %.1f s after it listens (the middle 90 %% in %.1f s; at most %.0f %% in "
      "0.1 s)\n",
      storm.first_client, storm.last_client, storm.middle_spread, storm.busiest);
  std::printf("  all %u instances after %.1f s, all %u subscriptions after %.1f s, lists whole after %.1f s\n",
              expected.instances, storm.last_instance, expected.subscriptions, storm.last_subscription, storm.whole);
  std::printf("  processor of the center: %.2f core-s in all, %.2f in the busiest second; lists that shrank: %u\n",
              storm.processor, storm.processor_peak, storm.shrunk);
  print("push, between two that are back at once", storm.probe);
  print("changes, providers' own return included", storm.changes.others);
  expect(storm.recovered, "everything is as before within 60 s");
  expect(storm.shrunk == 0, "no list became shorter");
  expect(ms(storm.probe.quantile(0.99)) < latest, "99 of 100 pushes took less than 2 s");
}

void print(const Churn& churn, unsigned wanted) {
  std::printf(
      "  %u in %.1f s; memory of the center %zu KiB after a tenth, %zu after half, %zu after all; tables empty: "
      "%s\n",
      churn.done, churn.seconds, churn.before_kib, churn.middle_kib, churn.after_kib, churn.empty ? "yes" : "no");
  expect(churn.done == wanted, "all of them were served");
  expect(churn.empty, "nothing of them is left");
  expect(churn.after_kib <= churn.middle_kib + flat, "memory is flat");
}

int run(unsigned percent) {
  const std::filesystem::path bin = std::filesystem::canonical("/proc/self/exe").parent_path();
  const std::string plugins = (bin.parent_path() / "plugins").string();
  const Offer offer{2000 * percent / 100, 5};
  const unsigned crowd = std::max(1u, 500 * percent / 100);
  const Folder work;
  CenterProcess center((bin / "tenon").string(), "15s");
  if (!allow_open_files(4096) || !center.start(work.path / "store")) return 1;
  std::this_thread::sleep_for(500ms);
  const std::size_t empty = center.resident_kib();
  const Caller looks(plugins, center.address());
  if (!looks.good()) return 1;
  const auto clients_are = [&](unsigned wanted) {
    return eventually([&] {
      const auto state = looks.state();
      return state.ok() && state->clients == wanted;
    });
  };

  Crowd providing("bench-providers", std::max(1u, 100 * percent / 100), plugins, center.address());
  Crowd subscribing("bench-subscribers", crowd, plugins, center.address());
  Providers providers(providing, offer);
  Subscribers subscribers(subscribing, offer, each);
  const Expected expected{providing.size() + subscribing.size(), offer.all(), subscribers.watches()};
  const auto fail = [](const tenon::Error& error) {
    std::printf("FAILED: %s\n", error.text().c_str());
    return 1;
  };
  if (const auto started = providing.start(); !started.ok()) return fail(started.error());
  expect(clients_are(providing.size()), "all providers are connected");
  const std::size_t provided = center.resident_kib();
  auto begun = std::chrono::steady_clock::now();
  expect(providers.announce(), "everything is announced");
  const double announcing = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const std::size_t announced = center.resident_kib();
  if (const auto started = subscribing.start(); !started.ok()) return fail(started.error());
  expect(clients_are(expected.clients), "all subscribers are connected");
  const std::size_t connected = center.resident_kib();
  begun = std::chrono::steady_clock::now();
  subscribers.watch();
  expect(eventually([&] { return subscribers.complete() == subscribers.watches(); }), "everybody has heard");
  const double watching = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const std::size_t watched = center.resident_kib();

  std::printf("%u services x %u instances from %u providers, %u subscribers x %u services; %u connections\n",
              offer.services, offer.instances, providing.size(), subscribing.size(), each, expected.clients);
  std::printf("  announced in %.2f s, subscribed in %.2f s\n", announcing, watching);
  const auto per = [](std::size_t after, std::size_t before, unsigned number) {
    return (static_cast<double>(after) - static_cast<double>(before)) / number;
  };
  std::printf("memory of the center: %zu KiB empty, %zu KiB with all\n", empty, watched);
  std::printf("  %.2f KiB an instance, %.1f KiB a subscriber (%.1f its connection, %.2f each service it follows)\n",
              per(announced, provided, offer.all()), per(watched, announced, crowd), per(connected, announced, crowd),
              per(watched, connected, subscribers.watches()));

  for (const unsigned steady : {rate, 5 * rate}) {
    (void)subscribers.latency();
    const double before = center.processor_seconds();
    change(providers, offer, steady, 10);
    const double used = center.processor_seconds() - before;
    std::this_thread::sleep_for(500ms);
    const auto latency = subscribers.latency();
    std::printf("push latency at %u changes a second (processor of the center: %.0f %% of a core)\n", steady,
                10 * used);
    print("a service that few follow", latency.others);
    print("the one that everybody follows", latency.hot);
    expect(latency.others.count() > 0 && latency.hot.count() > 0, "changes were heard of");
  }

  std::printf("restart: dead for 5 s, back with its store\n");
  print(restart(center, work.path / "store", 5, rate, expected, offer, plugins, providers, subscribers), expected);
  std::printf("restart: back at once, with an empty store\n");
  print(restart(center, work.path / "other", 0, rate, expected, offer, plugins, providers, subscribers), expected);

  subscribers.end();
  expect(providers.withdraw(), "everything is withdrawn");
  providing.end();
  subscribing.end();
  expect(eventually([&] {
           const auto state = looks.state();
           return state.ok() && state->instances == 0 && state->subscriptions == 0 && state->services == 0;
         }),
         "nothing is left at the center");
  std::printf("memory of the center after all have gone: %zu KiB\n", center.resident_kib());

  CenterProcess small((bin / "tenon").string(), "2s");
  if (!small.start(work.path / "small")) return 1;
  const unsigned cycles = 10'000 * percent / 100;
  std::printf("%u times subscribed and unsubscribed\n", cycles);
  print(subscribe_again(small, plugins, cycles), cycles);
  std::printf("%u clients that come, announce, watch and go, each second one without a word\n", cycles);
  print(come_and_go(small, plugins, cycles), cycles);
  return all_good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned percent = argc == 3 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : 100;
  if ((argc != 1 && argc != 3) || (argc == 3 && std::string(argv[1]) != "--scale") || percent < 1 || percent > 100) {
    std::fprintf(stderr, "usage: bench-center [--scale PERCENT]\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return run(percent);
}
