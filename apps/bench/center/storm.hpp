#pragma once
// A center that is gone, and everybody who comes back to it.

#include <filesystem>
#include <string>
#include <vector>

#include "caller.hpp"
#include "crowd.hpp"
#include "process.hpp"

namespace bench {

/// What the center should have when nothing is amiss.
struct Expected {
  unsigned clients = 0;
  unsigned instances = 0;
  unsigned subscriptions = 0;
};

/// How it went. Times are seconds from the moment the center listened again.
struct Storm {
  bool recovered = false;  ///< within the patience
  double first_client = 0;
  double last_client = 0;
  double middle_spread = 0;  ///< between the 5th and the 95th of a hundred clients
  double busiest = 0;        ///< the greatest share of the clients that came within 100 ms, percent
  double last_instance = 0;
  double last_subscription = 0;
  double whole = 0;              ///< lists are
  double processor_peak = 0;     ///< core seconds in the busiest second
  double processor = 0;          ///< core seconds until everybody is back
  unsigned shrunk = 0;           ///< lists that became shorter
  Histogram probe;               ///< of Probe, nanoseconds
  Subscribers::Latency changes;  ///< that providers made meanwhile, their own return included
};

/// Kills the center, leaves it dead for `down` seconds, and starts it with this store; providers go on to change
/// `rate` instances a second. Blocking: at most 60 s more than `down`.
Storm restart(CenterProcess& center, const std::filesystem::path& store, double down, unsigned rate,
              const Expected& expected, const Offer& offer, const std::string& plugins, Providers& providers,
              Subscribers& subscribers);

/// Providers change `rate` instances a second for so many seconds, of service 0 once a second.
void change(Providers& providers, const Offer& offer, unsigned rate, double seconds);

}  // namespace bench
