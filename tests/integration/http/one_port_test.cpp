// Callers of three protocols at one port at once.

#include "http_peer.hpp"
#include "services.hpp"

namespace tenon::test {
namespace {

ReferenceOptions over(const std::string& protocol, const std::string& serializer, const std::string& address) {
  ReferenceOptions reference = reference_options("test.Functions", address);
  reference.protocol = Component(protocol);
  reference.serializer = Component(serializer);
  return reference;
}

TEST(OnePort, SpeaksTenonMotan2AndHttpAtOnce) {
  const auto server = start_http();
  ASSERT_TRUE(server);
  const std::string address = server->addresses().at(0);
  AppOptions chosen = http_options("client");
  chosen.client.references["tenon"] = over("tenon", "protobuf", address);
  chosen.client.references["motan2"] = over("motan2", "simple", address);
  const auto client = start(std::move(chosen));
  ASSERT_TRUE(client);

  std::vector<std::thread> callers;
  for (const std::string name : {"tenon", "motan2"})
    callers.emplace_back([&, name] {
      ClientFunction<std::int64_t(std::int32_t, std::int64_t)> add{client->reference(name), "add"};
      for (int i = 0; i < 100; ++i) {
        const Result<std::int64_t> sum = add(-3, 300 + i);
        ASSERT_TRUE(sum.ok()) << name << ": " << sum.error().text();
        EXPECT_EQ(*sum, 297 + i);
      }
    });
  for (int number = 0; number < 3; ++number)
    callers.emplace_back([&] {
      HttpPeer peer(host(*server));
      for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(peer.post("/test.Functions/add", "[-3," + std::to_string(300 + i) + "]"));
        EXPECT_EQ(peer.receive().body, std::to_string(297 + i));
        ASSERT_TRUE(peer.post("/demo.Greeter/SayHello", "{\"name\":\"" + std::to_string(i) + "\"}"));
        EXPECT_EQ(peer.receive().body, "{\"message\":\"Hello, " + std::to_string(i) + "\"}");
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(eventually([&] { return idle(*server); }));
}

TEST(OnePort, AReferenceCannotUseHttp) {
  AppOptions chosen = http_options("client");
  chosen.client.references["r"] = over("http", "json", "127.0.0.1:1");
  auto app = App::create(std::move(chosen));
  Error error = app.ok() ? (*app)->start().error() : app.error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error.code(), Errc::config);
  EXPECT_NE(error.text().find("protocol http has no client side"), std::string::npos) << error.text();
}

}  // namespace
}  // namespace tenon::test
