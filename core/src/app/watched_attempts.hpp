#pragma once
#include <memory>

#include "tenon/app.hpp"
#include "tenon/cluster.hpp"

namespace tenon {

/// A dialer whose endpoints tell `seen` about each attempt that has ended. Threads: the reference's executor.
std::shared_ptr<Dialer> watched_dialer(std::shared_ptr<Dialer> dialer, AttemptSeen seen);

}  // namespace tenon
