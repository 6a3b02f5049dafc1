#pragma once
#include <chrono>
#include <cstdint>

#include "health/outlier_options.hpp"
#include "tenon/catalog.hpp"

namespace tenon::cluster {

/// The settings of cluster "default".
struct ClusterOptions {
  std::chrono::milliseconds stale_limit{60000};
  std::uint32_t collapse_percent = 50;
  std::uint32_t retry_percent = 20;
  std::uint32_t retries_per_second = 10;
  std::chrono::milliseconds warm_up{0};
  std::chrono::milliseconds slow_start{10000};
  OutlierOptions outliers;
};
BOOST_DESCRIBE_STRUCT(ClusterOptions, (),
                      (stale_limit, collapse_percent, retry_percent, retries_per_second, warm_up, slow_start, outliers))

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::ClusterOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("stale_limit", "how long instances that vanished in a suspect way are kept; 0: not"),
      tenon::member("collapse_percent", "losing more than this part of the instances at once is suspect"),
      tenon::member("retry_percent", "retries may add this many percent to the calls"),
      tenon::member("retries_per_second", "and this many a second besides"),
      tenon::member("warm_up", "how long the share of an instance grows that came later than the first ones; 0: not"),
      tenon::member("slow_start", "how long the share of an instance grows that was an outlier; 0: not"),
      tenon::member("outliers", "when an instance that answers worse than the others is passed over"));
};
