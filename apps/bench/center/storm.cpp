#include "storm.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "figures.hpp"

namespace bench {

namespace {

constexpr double patience = 60;
constexpr double look_every = 0.05;

double since(std::uint64_t begun) { return static_cast<double>(now() - begun) / 1e9; }

void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// One look at the center.
struct Look {
  double at = 0;
  double processor = 0;
  unsigned clients = 0;
};

// When `share` of the clients had come.
double when(const std::vector<Look>& looks, double share, unsigned all) {
  for (const Look& look : looks)
    if (look.clients > 0 && look.clients >= share * all) return look.at;
  return looks.empty() ? 0 : looks.back().at;
}

void study(const std::vector<Look>& looks, const Expected& expected, Storm& storm) {
  storm.first_client = when(looks, 0, expected.clients);
  storm.last_client = when(looks, 1, expected.clients);
  storm.middle_spread = when(looks, 0.95, expected.clients) - when(looks, 0.05, expected.clients);
  for (std::size_t end = 1, begin = 0; end < looks.size(); ++end) {
    while (looks[end].at - looks[begin].at > 0.1 + look_every / 2 && begin + 1 < end) ++begin;
    const double came = looks[end].clients > looks[begin].clients ? looks[end].clients - looks[begin].clients : 0;
    storm.busiest = std::max(storm.busiest, 100 * came / expected.clients);
  }
  for (std::size_t end = 1, begin = 0; end < looks.size(); ++end) {
    while (looks[end].at - looks[begin].at > 1 && begin + 1 < end) ++begin;
    storm.processor_peak = std::max(storm.processor_peak, (looks[end].processor - looks[begin].processor) /
                                                              std::max(1.0, looks[end].at - looks[begin].at));
  }
}

}  // namespace

void change(Providers& providers, const Offer& offer, unsigned rate, double seconds) {
  const std::uint64_t begun = now();
  const auto changes = static_cast<std::uint64_t>(rate * seconds);
  for (std::uint64_t number = 0; number < changes; ++number) {
    const double due = static_cast<double>(number) / rate;
    if (due > since(begun)) sleep(due - since(begun));
    // Not in a row: the next ones are followed by others.
    providers.update(number % rate == 0 ? 0 : 1 + static_cast<unsigned>(number * 977 % (offer.services - 1)));
  }
}

Storm restart(CenterProcess& center, const std::filesystem::path& store, double down, unsigned rate,
              const Expected& expected, const Offer& offer, const std::string& plugins, Providers& providers,
              Subscribers& subscribers) {
  Storm storm;
  center.kill();
  sleep(down);
  (void)subscribers.latency();
  (void)subscribers.shrunk();
  if (!center.start(store)) return storm;
  const std::uint64_t begun = now();
  Probe probe(plugins, center.address());
  const Caller looks_at(plugins, center.address());
  if (!looks_at.good()) return storm;
  std::jthread changing([&](const std::stop_token& end) {
    while (!end.stop_requested()) change(providers, offer, rate, 0.5);
  });
  std::vector<Look> looks;
  bool whole = false;
  while (!whole && since(begun) < patience) {
    const auto state = looks_at.state();
    const double at = since(begun);
    if (state.ok()) {
      // The probe's two clients, instance and watch are there, too.
      const unsigned clients = state->clients > 2 ? state->clients - 2 : 0;
      looks.push_back({at, center.processor_seconds(), clients});
      if (storm.last_instance == 0 && state->instances >= expected.instances + 1) storm.last_instance = at;
      if (storm.last_subscription == 0 && state->subscriptions >= expected.subscriptions + 1)
        storm.last_subscription = at;
      if (storm.processor == 0 && storm.last_instance > 0 && storm.last_subscription > 0)
        storm.processor = looks.back().processor;
      whole = state->whole && storm.processor > 0;
    }
    sleep(look_every);
  }
  storm.whole = since(begun);
  changing.request_stop();
  changing.join();
  probe.stop();
  sleep(1);  // for what is under way
  study(looks, expected, storm);
  storm.recovered = whole && subscribers.complete() == expected.subscriptions;
  storm.shrunk = subscribers.shrunk();
  storm.probe = probe.latency();
  storm.changes = subscribers.latency();
  return storm;
}

}  // namespace bench
