// More clients of one host than a server takes.
#include <algorithm>
#include <numeric>

#include "live_servers.hpp"

namespace tenon::test {
namespace {

class SlowLiveMany : public LiveServers {};

// REG-21. The server lets 60 clients of a host in, which is its default. The others are late, not lost.
TEST_F(SlowLiveMany, EightyClientsOfOneHost) {
  constexpr std::size_t clients = 80;
  ZookeeperServer server("maxClientCnxns=60\n");
  server.start();
  meet_at(server.address(), milliseconds(200));
  provide("a");
  provide("b");
  consume();
  ASSERT_TRUE(agrees(seconds(20)));
  Load load(consumer(), 1, milliseconds(1));
  const SocketFolder logs;
  std::vector<std::unique_ptr<Consumer>> crowd;
  for (std::size_t i = 0; i < clients; ++i)
    crowd.push_back(std::make_unique<Consumer>(group, store_, "client", [&](AppOptions& options) {
      options.log.level = LogLevel::warn;
      options.log.file = logs.file(std::to_string(i));
      options.client.references["r"].connect_timeout = milliseconds(200);
    }));
  const auto served = [&](const Consumer& each) {
    const ClientFunction<std::string(std::string)> name(each.app->reference("r"), "name");
    CallOptions hurry;
    hurry.timeout = milliseconds(200);
    return name.call(hurry, "").ok();
  };
  const auto lines = [&](std::size_t number) {
    std::ifstream file(logs.file(std::to_string(number)));
    int count = 0;
    for (std::string line; std::getline(file, line);) count += line.find("[zookeeper] ") != line.npos ? 1 : 0;
    return count;
  };
  std::vector<std::size_t> late;
  ASSERT_TRUE(eventually(
      [&] {
        late.clear();
        for (std::size_t i = 0; i < clients; ++i)
          if (!served(*crowd[i])) late.push_back(i);
        return late.size() == clients - 57;  // 60 less the two providers and the first consumer
      },
      seconds(30)))
      << late.size();
  const int before =
      std::accumulate(late.begin(), late.end(), 0, [&](int sum, std::size_t i) { return sum + lines(i); });
  std::this_thread::sleep_for(seconds(10));
  const int after =
      std::accumulate(late.begin(), late.end(), 0, [&](int sum, std::size_t i) { return sum + lines(i); });
  std::printf("%zu of %zu clients are late; each logs %.1f lines in 10 s\n", late.size(), clients,
              static_cast<double>(after - before) / static_cast<double>(late.size()));
  for (const std::size_t i : late) EXPECT_GT(lines(i), 0) << "it says why";
  EXPECT_LE(after - before, 2 * static_cast<int>(late.size()));

  // Some go; the others take their places.
  const std::set<std::size_t> waiting(late.begin(), late.end());
  std::size_t gone = 0;
  for (std::size_t i = 0; i < clients && gone < late.size() + 2; ++i) {
    if (waiting.contains(i)) continue;
    crowd[i].reset();
    ++gone;
  }
  const auto begun = steady_clock::now();
  EXPECT_TRUE(eventually(
      [&] { return std::all_of(late.begin(), late.end(), [&](std::size_t i) { return served(*crowd[i]); }); },
      seconds(30)));
  std::printf("the last of the late is served %.2f s after there was room\n", seconds_since(begun));
  EXPECT_LE(seconds_since(begun), 7.0) << "session timeout + 5 s";
  provide("c");
  for (const auto& each : crowd) {
    if (!each) continue;
    std::set<std::string> heard;
    EXPECT_TRUE(eventually([&] { return heard.insert(each->call()), heard == std::set<std::string>{"a", "b", "c"}; }));
  }
  EXPECT_EQ(errors_of(load.stop()), "");
}

}  // namespace
}  // namespace tenon::test
