#pragma once
#include <memory>

#include "admin/app_facts.hpp"
#include "tenon/service.hpp"

namespace tenon::admin {

/// Makes the service tenon.Admin. Its methods are in tenon/admin.hpp.
/// Threads: its methods run on `home`. Ownership: shares both.
std::shared_ptr<Service> make_admin(std::shared_ptr<AppFacts> facts, std::shared_ptr<Loop> home);

}  // namespace tenon::admin
