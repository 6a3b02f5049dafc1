#pragma once
#include <memory>
#include <utility>

#include "tenon/task.hpp"

namespace tenon::consul {

/// Starts a task that nobody waits for. What it uses it keeps alive itself. Threads: it ends where it was started.
inline void run_detached(Task<void> task) {
  struct Detached {
    Task<void> task;
  };
  auto* detached = new Detached{std::move(task)};
  const auto ended = [](void* self) { delete static_cast<Detached*>(self); };
  if (detached->task.start(ended, detached)) delete detached;
}

}  // namespace tenon::consul
