#pragma once
#include <tuple>

#include "tenon/registry.hpp"

namespace tenon::center {

/// Orders service names.
struct ByName {
  bool operator()(const ServiceName& a, const ServiceName& b) const noexcept {
    return std::tie(a.interface, a.group, a.version) < std::tie(b.interface, b.group, b.version);
  }
};

/// One instance of one service.
struct InstanceName {
  ServiceName service;
  std::string id;
  bool operator<(const InstanceName& other) const noexcept {
    return std::tie(service.interface, service.group, service.version, id) <
           std::tie(other.service.interface, other.service.group, other.service.version, other.id);
  }
};

}  // namespace tenon::center
