// A client in a process of its own, to be stopped and to be given another time of day: calls test.Slow at a steady pace
// until SIGTERM, then prints what it has seen, in one line:
//
//   calls N failed N answered-by N slowest-timeout MS longest-gap MS first-error TEXT
//
// paced_client ADDRESS[,ADDRESS…]. Every 20th call runs into its deadline of 200 ms: how late that is noticed is the
// slowest timeout, by the steady clock.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "support/test_apps.hpp"

namespace {

double milliseconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

volatile sig_atomic_t told_to_end = 0;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  using namespace tenon::test;
  (void)::signal(SIGTERM, [](int) { told_to_end = 1; });
  tenon::AppOptions chosen = client_options("test.Slow", argv[1]);
  chosen.client.references["r"].methods["sleep"].idempotent = true;
  const auto app = start(std::move(chosen));
  if (!app) return 1;
  const tenon::ClientFunction<std::int64_t(std::int64_t, std::int64_t)> sleep(app->reference("r"), "sleep");
  const tenon::ClientFunction<std::int64_t()> who(app->reference("r"), "begun");
  std::puts("calling");
  std::fflush(stdout);
  int calls = 0;
  int failed = 0;
  double slowest = 0;
  double longest_gap = 0;
  std::set<std::int64_t> answered;
  std::string first_error;
  auto last = std::chrono::steady_clock::now();
  while (!told_to_end) {
    ++calls;
    if (calls % 20 == 0) {
      tenon::CallOptions hurry;
      hurry.timeout = std::chrono::milliseconds(200);
      const auto begun = std::chrono::steady_clock::now();
      const tenon::Result<std::int64_t> late = sleep.call(hurry, 1000, 1);
      slowest = std::max(slowest, milliseconds_since(begun));
      // Its answer may be there already when a process that was stopped goes on.
      const bool good =
          late.ok() ? milliseconds_since(begun) >= 1000 : late.error().code() == tenon::Errc::deadline_exceeded;
      if (!good) {
        ++failed;
        first_error = late.ok() ? "it slept in no time" : late.error().text();
      }
    } else if (const tenon::Result<std::int64_t> one = who(); one.ok()) {
      answered.insert(*one);
      longest_gap = std::max(longest_gap, milliseconds_since(last));
      last = std::chrono::steady_clock::now();
    } else {
      ++failed;
      if (first_error.empty()) first_error = one.error().text();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::printf("calls %d failed %d answered-by %zu slowest-timeout %.0f longest-gap %.0f first-error %s\n", calls,
              failed, answered.size(), slowest, longest_gap, first_error.c_str());
  return 0;
}
