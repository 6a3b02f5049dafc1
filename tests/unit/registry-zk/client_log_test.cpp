#include "client_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "support/recording_log.hpp"

namespace tenon::zk {
namespace {

constexpr const char* refused =
    "2026-01-31 12:00:00,123:4711(0x7f00):ZOO_ERROR@handle_socket_error_msg@1781: Socket [127.0.0.1:2181] zk "
    "retcode=-4";
constexpr const char* slow =
    "2026-01-31 12:00:00,123:4711(0x7f00):ZOO_WARN@zookeeper_interest@1597: Exceeded deadline by 11ms";
constexpr const char* pacing =
    "2026-01-31 12:00:00,123:4711(0x7f00):ZOO_WARN@zookeeper_interest@1601: Delaying connection after exhaustively "
    "trying all servers [127.0.0.1:2181]";

TEST(ClientLogTest, OneOfAKindInTenSecondsAndTheRestIsCounted) {
  test::RecordingLog log;
  ClientLog client(log);
  const ClientLog::Clock::time_point start{};
  for (int i = 0; i < 290; ++i) client.write(refused, start + std::chrono::milliseconds(i * 30));
  client.write(pacing, start);  // follows each of them
  client.write(slow, start);
  ASSERT_EQ(log.lines().size(), 2u);
  EXPECT_EQ(log.lines()[0], "zookeeper-client: ZooKeeper's client: Socket [127.0.0.1:2181] zk retcode=-4");
  EXPECT_EQ(log.lines()[1], "zookeeper-client: ZooKeeper's client: Exceeded deadline by 11ms");
  client.write(refused, start + ClientLog::pause);
  ASSERT_EQ(log.lines().size(), 3u);
  EXPECT_NE(log.lines()[2].find("(and 289 more like it)"), std::string::npos) << log.lines()[2];
}

TEST(ClientLogTest, InformationIsLeftOutAndOddLinesAreNot) {
  test::RecordingLog log;
  ClientLog client(log);
  client.write("2026-01-31 12:00:00,123:4711(0x7f00):ZOO_INFO@check_events@2986: session established", {});
  EXPECT_TRUE(log.lines().empty());
  client.write("something else", {});
  EXPECT_EQ(log.lines().size(), 1u);
}

TEST(ClientLogTest, EachFunctionWritesToItsOwn) {
  test::RecordingLog first_log;
  test::RecordingLog second_log;
  ClientLog first(first_log);
  auto second = std::make_unique<ClientLog>(second_log);
  const ClientLog::Function to_second = second->function();
  first.function()(refused);
  to_second(slow);
  EXPECT_EQ(first_log.lines().size(), 1u);
  EXPECT_EQ(second_log.lines().size(), 1u);
  second->detach();
  to_second(refused);
  second.reset();
  to_second(refused);  // may still come from a thread of the library
  EXPECT_EQ(second_log.lines().size(), 1u);
}

TEST(ClientLogTest, MoreThanThereAreFunctionsForAreSilent) {
  test::RecordingLog log;
  std::vector<std::unique_ptr<ClientLog>> many;
  for (int i = 0; i < 40; ++i) many.push_back(std::make_unique<ClientLog>(log));
  for (const auto& client : many) client->function()(refused);
  EXPECT_EQ(log.lines().size(), 32u);
}

TEST(ClientLogTest, KindsAreBounded) {
  test::RecordingLog log;
  ClientLog client(log);
  for (int i = 0; i < 1000; ++i)
    client.write("x:ZOO_ERROR@place@" + std::to_string(i) + ": text", ClientLog::Clock::time_point{});
  EXPECT_EQ(log.lines().size(), 1000u);
}

}  // namespace
}  // namespace tenon::zk
