#pragma once
// What a registry knows, for people and for programs.

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/registry.hpp"

namespace tenon::cli {

/// A service with what is known of it.
struct ListedService {
  ServiceName service;
  std::vector<Instance> instances;
  std::vector<Subscriber> subscribers;
};

/// A group with what is known of it.
struct ListedGroup {
  std::string name;
  std::uint64_t command_version = 0;  ///< 0: it has none
  std::vector<ListedService> services;
};

std::string instances_text(const std::vector<Instance>& instances);
std::string groups_text(const std::vector<ListedGroup>& groups);
/// {"groups":[…]}
std::string groups_json(const std::vector<ListedGroup>& groups);

/// "serving" or "offline".
std::string state_text(const Instance& instance);
/// Nobody who announces through Tenon leaves the transport out: it was announced by another system.
bool is_foreign(const Instance& instance) noexcept;
/// One instance as a member of JSON.
std::string instance_json(const Instance& instance);

}  // namespace tenon::cli
