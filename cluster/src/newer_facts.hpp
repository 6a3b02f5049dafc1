#pragma once
#include <memory>

#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// Whether connections to `one` serve `other`, too: same id, address, transport and protocols. Weight, serving and
/// metadata may differ.
bool same_place(const Instance& one, const Instance& other) noexcept;

/// `endpoint`, showing `instance` as its facts: the same one if nothing changed, else a front for it that shares its
/// connections and figures. REQUIRES same_place(endpoint->instance(), instance).
std::shared_ptr<Endpoint> with_facts(const std::shared_ptr<Endpoint>& endpoint, const Instance& instance);

}  // namespace tenon::cluster
