#pragma once
// Clients and watches that come and go, and what of them stays.

#include <string>

#include "process.hpp"

namespace bench {

/// What was left.
struct Churn {
  unsigned done = 0;  ///< of the number asked for; fewer: the time was over
  double seconds = 0;
  std::size_t before_kib = 0;  ///< resident memory of the center, after a tenth of them
  std::size_t middle_kib = 0;  ///< after half
  std::size_t after_kib = 0;   ///< after all
  bool empty = false;          ///< no client, instance, subscription or service is left within 20 s
};

/// One client that subscribes to a service and unsubscribes, again and again. Blocking: at most 60 s.
Churn subscribe_again(const CenterProcess& center, const std::string& plugins, unsigned cycles);
/// Clients with a connection of their own that announce, watch and go; each second one without a word. The center's
/// lease should be short. Blocking: at most 90 s.
Churn come_and_go(const CenterProcess& center, const std::string& plugins, unsigned clients);

}  // namespace bench
