// What a call costs on the socket, counted by a relay between client and server.

#include <iostream>

#include "support/fault_proxy.hpp"
#include "support/test_apps.hpp"

namespace tenon {
namespace {

TEST(WireBytes, AWarmCallWithOneIntegerIsSmall) {
  constexpr std::int64_t number = 1234567890;
  auto service = std::make_shared<Functions>("test.Numbers");
  service->add("same", [](std::int64_t n) { return n; });
  auto server = test::start(test::server_options(), {service});
  ASSERT_TRUE(server);
  test::FaultProxy relay(server->addresses()[0]);
  AppOptions options = test::client_options("test.Numbers", relay.address());
  options.client.references["r"].protocol = Component("tenon");
  options.client.references["r"].serializer = Component("protobuf");
  auto client = test::start(std::move(options));
  ASSERT_TRUE(client);
  const ClientFunction<std::int64_t(std::int64_t)> same(client->reference("r"), "same");

  const Result<std::int64_t> first = same(number);
  ASSERT_TRUE(first.ok()) << first.error().text();
  const auto up_before = relay.to_server();
  const auto down_before = relay.to_client();
  const Result<std::int64_t> warm = same(number);
  ASSERT_TRUE(warm.ok()) << warm.error().text();
  ASSERT_EQ(*warm, number);
  const auto request = relay.to_server().bytes - up_before.bytes;
  const auto reply = relay.to_client().bytes - down_before.bytes;

  RecordProperty("first_request_and_preface_bytes", std::to_string(up_before.bytes));
  RecordProperty("request_bytes", std::to_string(request));
  RecordProperty("reply_bytes", std::to_string(reply));
  std::cout << "first call with preface: " << up_before.bytes << " bytes; warm call: request " << request
            << " bytes, reply " << reply << " bytes\n";
  // The number itself takes six bytes: less would mean that something was not counted.
  EXPECT_GE(request, 8u);
  EXPECT_LE(request, 14u);
  EXPECT_GE(reply, 8u);
  EXPECT_LE(reply, 10u);
}

}  // namespace
}  // namespace tenon
