// The server of signals_test: handlers that take their time, and do not listen to their cancellation.

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tenon/app.hpp"
#include "tenon/functions.hpp"
#include "tenon/scope.hpp"

namespace {

using tenon::Result;
using tenon::Task;

std::atomic<std::int64_t> begun{0};

Task<Result<std::int64_t>> sleep_on_the_loop(std::int64_t ms, std::int64_t answer) {
  ++begun;
  tenon::Clock& clock = tenon::Executor::current()->clock();
  tenon::sleep_until nap(clock, clock.now() + std::chrono::milliseconds(ms));
  co_await nap;
  co_return answer;
}

}  // namespace

int main(int argc, char** argv) {
  return tenon::App::main(argc, argv, [](tenon::App& app) {
    auto slow = std::make_shared<tenon::Functions>("test.Slow");
    slow->add("sleep", [](std::int64_t ms, std::int64_t answer) { return sleep_on_the_loop(ms, answer); });
    slow->add("begun", [] { return begun.load(); });
    // Blocks the io thread: what a handler must not do, and what some do.
    slow->add("block", [](std::int64_t ms) {
      ++begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      return ms;
    });
    app.provide(std::move(slow));
  });
}
