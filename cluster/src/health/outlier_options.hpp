#pragma once
#include <chrono>
#include <cstdint>

#include "tenon/catalog.hpp"

namespace tenon::cluster {

/// When an instance that is connected is passed over all the same (cluster/README.md, "Outliers").
struct OutlierOptions {
  std::uint32_t consecutive_faults = 5;
  std::chrono::milliseconds interval{10000};
  std::uint32_t min_instances = 5;
  std::uint32_t min_calls = 100;
  double deviations = 1.9;
  std::chrono::milliseconds ejection{10000};
  std::chrono::milliseconds max_ejection{300000};
  std::uint32_t max_percent = 50;
  std::uint32_t panic_percent = 50;
};
BOOST_DESCRIBE_STRUCT(OutlierOptions, (),
                      (consecutive_faults, interval, min_instances, min_calls, deviations, ejection, max_ejection,
                       max_percent, panic_percent))

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::OutlierOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("consecutive_faults", "so many faults in a row eject an instance; 0: never for that"),
      tenon::member("interval", "how often success rates are compared; 0: never"),
      tenon::member("min_instances", "of the interval, with min_calls each, or no rates are compared"),
      tenon::member("min_calls", "of an instance in an interval, or its rate is not looked at"),
      tenon::member("deviations", "a success rate this many standard deviations below the mean ejects"),
      tenon::member("ejection", "how long, the first time; doubled each time it follows soon"),
      tenon::member("max_ejection", "no longer than this"),
      tenon::member("max_percent", "of the instances may be ejected at once; at least one may, the last one never"),
      tenon::member("panic_percent", "when fewer than this can take calls, the ejected ones do, too; 0: never"));
};
