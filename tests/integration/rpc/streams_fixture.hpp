#pragma once
#include <optional>

#include "stream_service.hpp"

namespace tenon::test {

/// A server of test.Items and a client of it, over the transport that is the parameter.
class StreamsFixture : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    items = std::make_shared<Items>();
    restart(server_options(GetParam(), address()), {});
  }
  void restart(AppOptions serving, LimitOptions limits) {
    client.reset();
    server.reset();
    serving.server.pools["work"].threads = 2;
    ServiceOptions offered;
    offered.name = "test.Items";
    offered.methods["count_in_pool"].pool = "work";
    offered.methods["slow_in_pool"].pool = "work";
    serving.server.services = {offered};
    server = start(std::move(serving), {items});
    ASSERT_TRUE(server);
    AppOptions chosen = client_options("test.Items", server->addresses()[0], GetParam());
    chosen.client.references["r"].limits = limits;
    client = start(std::move(chosen));
    ASSERT_TRUE(client);
  }
  std::string address() const { return std::string_view(GetParam()) == "tcp" ? "127.0.0.1:0" : "streams"; }
  template <class... A>
  ClientStreamFunction<Item(A...)> stream(std::string_view name) const {
    return {client->reference("r"), name};
  }
  /// Numbers 0 … n-1 arrive, then the end.
  static void expect_count(Stream<Item>& items, std::int64_t n) {
    Item item;
    for (std::int64_t i = 0; i < n; ++i) {
      Result<bool> more = items.next(item);
      ASSERT_TRUE(more.ok()) << i << ": " << more.error().text();
      ASSERT_TRUE(*more) << i;
      ASSERT_EQ(item.number, i);
    }
    Result<bool> more = items.next(item);
    ASSERT_TRUE(more.ok()) << more.error().text();
    EXPECT_FALSE(*more);
  }
  void expect_idle() {
    EXPECT_TRUE(eventually([&] { return idle(*server) && idle(*client); }))
        << client->counts().client_calls << " calls, " << client->counts().client_orphans << " orphans, "
        << server->counts().server_calls << " served";
    EXPECT_EQ(items->running, 0);
  }

  std::shared_ptr<Items> items;
  std::unique_ptr<App> server;
  std::unique_ptr<App> client;
};

}  // namespace tenon::test
