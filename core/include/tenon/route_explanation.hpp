#pragma once
// Why a reference would call an instance, or would not: what App::explain() asks and answers.

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/cluster.hpp"
#include "tenon/headers.hpp"

namespace tenon {

/// What routing looks at in a call.
struct CallFacts {
  std::string method;
  Headers headers{};           ///< as they are behind the reference's filters
  std::uint64_t hash_key = 0;  ///< 0: none
  std::string instance{};      ///< only this one, by id or address; empty: any
};

struct RouteExplanation {
  ServiceName service;
  std::string not_ready;  ///< why calls would have to wait, or would fail; empty: the reference is ready
  std::vector<ClusterInvoker::Verdict> instances;
};

}  // namespace tenon
