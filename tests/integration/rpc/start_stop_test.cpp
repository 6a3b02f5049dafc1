// I15: hundreds of starts and stops, with calls in flight, one after the other in one process and as processes.
#include <dirent.h>

#include <fstream>
#include <iostream>

#include "support/test_apps.hpp"
#include "tenon/scope.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::size_t entries_of(const char* folder) {
  std::size_t count = 0;
  DIR* const open = ::opendir(folder);
  if (!open) return 0;
  while (::readdir(open)) ++count;
  ::closedir(open);
  return count;
}

Task<Result<std::int64_t>> nap(std::int64_t ms) {
  Clock& clock = Executor::current()->clock();
  sleep_until end(clock, clock.now() + milliseconds(ms));
  co_await end;
  co_return ms;
}

struct Cycle {
  std::unique_ptr<App> server;
  std::unique_ptr<App> client;
};

Cycle begin(int number) {
  AppOptions offered = test::server_options();
  offered.plugins.load.push_back("registry-memory");
  offered.registries["here"] = Component("memory");
  offered.runtime.io_threads = 1 + number % 2;
  ServiceOptions naps;
  naps.name = "test.Naps";
  naps.registry = {"here"};
  offered.server.services = {naps};
  auto service = std::make_shared<Functions>("test.Naps");
  service->add("nap", nap);
  Cycle cycle;
  cycle.server = test::start(std::move(offered), {service});
  if (cycle.server) cycle.client = test::start(test::client_options("test.Naps", cycle.server->addresses()[0]));
  return cycle;
}

/// What took long.
class Steps {
 public:
  void done(const char* step) {
    const auto now = std::chrono::steady_clock::now();
    const auto ms = std::chrono::duration_cast<milliseconds>(now - last_).count();
    if (ms >= 500) text_ += std::string(" ") + step + ' ' + std::to_string(ms) + " ms";
    last_ = now;
  }
  Duration took() const { return last_ - begun_; }
  const std::string& text() const noexcept { return text_; }

 private:
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begun_;
  std::string text_;
};

TEST(SlowStartStop, FiveHundredTimesWithoutAHang) {
  std::size_t files = 0;
  std::size_t threads = 0;
  Duration slowest{0};
  std::atomic<int> answered = 0;
  std::atomic<int> failed = 0;
  for (int number = 0; number < 500; ++number) {
    Steps steps;
    Cycle cycle = begin(number);
    ASSERT_TRUE(cycle.server && cycle.client) << number;
    steps.done("start");
    {
      const ClientFunction<std::int64_t(std::int64_t)> call(cycle.client->reference("r"), "nap");
      ASSERT_TRUE(call(0).ok());
      for (int i = 0; i < 3; ++i)
        call(number % 7, [&](Result<std::int64_t> answer) { ++(answer.ok() ? answered : failed); });
      steps.done("call");
      // Now the one, now the other goes first.
      if (number % 3 == 0) cycle.client.reset();
      steps.done("end of the client");
      EXPECT_TRUE(cycle.server->stop(seconds(5)));
      steps.done("stop");
      cycle.server.reset();
      steps.done("end of the server");
      cycle.client.reset();
      steps.done("end of the client");
    }
    if (!steps.text().empty()) std::cout << "cycle " << number << ":" << steps.text() << std::endl;
    slowest = std::max(slowest, steps.took());
    if (number == 9) {
      files = entries_of("/proc/self/fd");
      threads = entries_of("/proc/self/task");
    }
  }
  EXPECT_EQ(answered + failed, 1500);
  EXPECT_LE(entries_of("/proc/self/fd"), files) << "I13";
  EXPECT_LE(entries_of("/proc/self/task"), threads);
  std::cout << "500 cycles, the slowest took " << std::chrono::duration_cast<milliseconds>(slowest).count() << " ms; "
            << answered << " calls answered, " << failed << " cut off by their own end\n";
  EXPECT_LT(slowest, seconds(5));
}

}  // namespace
}  // namespace tenon
