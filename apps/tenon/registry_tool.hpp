#pragma once
// Looking at a registry and steering the instances in it.

#include <cstdint>
#include <string>

#include "registry_client.hpp"

namespace tenon::cli {

struct ListOptions {
  RegistryTarget target;
  std::string service;  ///< empty: all
  std::string group;
  bool json = false;
};

struct WatchOptions {
  RegistryTarget target;
  std::string service;
  std::string group;
  std::string time;  ///< "10s"; empty: for ever
  bool json = false;
};

struct SteerOptions {
  RegistryTarget target;
  std::string service;
  std::string group;
  std::string instance;  ///< its id or address
  std::uint32_t weight = 100;
};

/// `tenon registry …`. Each returns the exit code, and has printed everything.
int list_registry(const ListOptions& options);
int watch_service(const WatchOptions& options);
int set_serving(const SteerOptions& options, bool serving);
int set_weight(const SteerOptions& options);

}  // namespace tenon::cli
