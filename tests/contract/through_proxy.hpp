#pragma once
// A contract's connections through a fault proxy.

#include <functional>
#include <memory>
#include <string>

#include "support/fault_proxy.hpp"

namespace tenon::test {

/// For TransportCase::reach: puts a proxy with these faults in front of the listener. The proxy stays until the next
/// listener comes, or to the end of the program.
inline std::function<std::string(const std::string&)> through_proxy(const ConnectionFaults& faults) {
  auto proxy = std::make_shared<std::unique_ptr<FaultProxy>>();
  return [proxy, faults](const std::string& address) {
    proxy->reset();
    *proxy = std::make_unique<FaultProxy>(address, faults);
    return (*proxy)->address();
  };
}

}  // namespace tenon::test
