#include "tenon/executor.hpp"

#include <utility>

namespace tenon {

namespace {
extern constinit thread_local Executor* current_executor __attribute__((tls_model("initial-exec")));
constinit thread_local Executor* current_executor = nullptr;
}  // namespace

Executor* Executor::current() noexcept { return current_executor; }
Executor::Current::Current(Executor& executor) noexcept : previous_(std::exchange(current_executor, &executor)) {}
Executor::Current::~Current() { current_executor = previous_; }

}  // namespace tenon
