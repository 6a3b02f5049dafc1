// Calls between Apps over motan2 + simple, beside tenon + protobuf on the same port.

#include <future>

#include "demo_service.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

ReferenceOptions over(const std::string& protocol, const std::string& serializer, const std::string& address) {
  ReferenceOptions reference = reference_options(demo_interface, address);
  reference.protocol = Component(protocol);
  reference.serializer = Component(serializer);
  return reference;
}

/// A server, and a client with a reference for each way of speaking.
class Motan2Calls : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = start(motan_server_options(), {demo_service()});
    ASSERT_TRUE(server_);
    const std::string address = server_->addresses().at(0);
    AppOptions chosen = motan_options("client");
    auto& references = chosen.client.references;
    references["motan2"] = over("motan2", "simple", address);
    references["motan2 gzip"] = over("motan2", "simple", address);
    references["motan2 gzip"].compress = Component("gzip");
    references["motan2 protobuf"] = over("motan2", "protobuf", address);
    references["tenon"] = over("tenon", "protobuf", address);
    references["tenon gzip"] = over("tenon", "protobuf", address);
    references["tenon gzip"].compress = Component("gzip");
    references["tenon simple"] = over("tenon", "simple", address);
    client_ = start(std::move(chosen));
    ASSERT_TRUE(client_);
  }
  std::vector<std::string> all() const {
    return {"motan2", "motan2 gzip", "motan2 protobuf", "tenon", "tenon gzip", "tenon simple"};
  }
  std::shared_ptr<Reference> reference(const std::string& name) { return client_->reference(name); }

  std::unique_ptr<App> server_;
  std::unique_ptr<App> client_;
};

TEST_F(Motan2Calls, TheSameServiceInEveryWayOnOnePortAtOnce) {
  std::vector<std::thread> callers;
  for (const std::string& name : all())
    callers.emplace_back([this, name] {
      ClientFunction<std::string(std::string)> hello{reference(name), "hello"};
      ClientFunction<std::int64_t(std::int32_t, std::int64_t)> add{reference(name), "add"};
      const std::string large(100'000, 'x');
      for (int i = 0; i < 50; ++i) {
        Result<std::string> said = hello(name);
        ASSERT_TRUE(said.ok()) << name << ": " << said.error().text();
        EXPECT_EQ(*said, "hello " + name);
        Result<std::int64_t> sum = add(-3, 300 + i);
        ASSERT_TRUE(sum.ok()) << name << ": " << sum.error().text();
        EXPECT_EQ(*sum, 297 + i);
        said = hello(large);
        ASSERT_TRUE(said.ok()) << name << ": " << said.error().text();
        EXPECT_EQ(said->size(), large.size() + 6);
      }
    });
  for (std::thread& caller : callers) caller.join();
}

TEST_F(Motan2Calls, ExactTypesAndNestedValues) {
  ClientFunction<Value(Value)> echo{reference("motan2"), "echo"};
  const Value nested = Value::of_list({"s", Bytes{std::string("\x01\x02")}, true, std::int16_t{-2}, std::int32_t{-1},
                                       std::int64_t{1} << 40, 1.5F, -2.25, nullptr,
                                       Value::of_map({{"k", "v"}}), Value::of_list({"a", ""}),
                                       Value::of_map({{"k2", std::int32_t{5}}, {std::int64_t{7}, nullptr}})});
  Result<Value> answer = echo(nested);
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(*answer, nested);
}

TEST_F(Motan2Calls, MapsListsBytesAndNothing) {
  using Texts = std::map<std::string, std::string>;
  ClientFunction<Texts(Texts, std::vector<std::string>, Bytes)> maps{reference("motan2"), "maps"};
  Result<Texts> answer = maps({{"name", "ray"}}, {"x", "y"}, Bytes{"ab"});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(*answer, (Texts{{"name", "ray"}, {"l", "xy"}, {"b", "2"}}));
  ClientFunction<void(std::string)> nothing{reference("motan2"), "nothing"};
  EXPECT_TRUE(nothing("x").ok());
}

TEST_F(Motan2Calls, ErrorsKeepTheirMeaning) {
  for (const std::string name : {"motan2", "tenon"}) {
    ClientFunction<std::string(std::string)> refuse{reference(name), "refuse"};
    Result<std::string> refused = refuse("keep out");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), Errc::permission_denied) << name;
    EXPECT_EQ(refused.error().domain(), "acme") << name;
    EXPECT_EQ(refused.error().foreign_code(), 42) << name;
    EXPECT_EQ(refused.error().delivery(), Delivery::ran) << name;
    EXPECT_NE(refused.error().text().find("keep out"), std::string::npos) << name;

    ClientFunction<std::string(std::string)> missing{reference(name), "nosuch"};
    Result<std::string> unknown = missing("x");
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.error().code(), Errc::not_found) << name;
    EXPECT_EQ(unknown.error().delivery(), Delivery::not_run) << name;
  }
  ClientFunction<std::string(std::string)> boom{reference("motan2"), "boom"};
  Result<std::string> thrown = boom("now");
  ASSERT_FALSE(thrown.ok());
  EXPECT_EQ(thrown.error().delivery(), Delivery::ran);
  EXPECT_NE(thrown.error().text().find("boom now"), std::string::npos);
}

TEST_F(Motan2Calls, TimeOutHarmsNoOtherCallAndItsLateReplyIsDropped) {
  ClientFunction<std::string(std::int32_t)> sleep{reference("motan2"), "sleep"};
  ClientFunction<std::string(std::string)> hello{reference("motan2"), "hello"};
  CallOptions hurry;
  hurry.timeout = 30ms;
  for (int i = 0; i < 5; ++i) {
    Result<std::string> late = sleep.call(hurry, 120);
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().code(), Errc::deadline_exceeded);
    Result<std::string> said = hello("you");  // takes the number that the late call had
    ASSERT_TRUE(said.ok()) << said.error().text();
    EXPECT_EQ(*said, "hello you");
  }
  EXPECT_TRUE(eventually([&] { return idle(*server_) && idle(*client_); }));
  EXPECT_EQ(*hello("again"), "hello again");
}

TEST_F(Motan2Calls, ThousandsInFlightAnswerOutOfOrder) {
  ClientFunction<std::string(std::int32_t)> sleep{reference("motan2"), "sleep"};
  ClientFunction<std::int64_t(std::int32_t, std::int64_t)> add{reference("motan2"), "add"};
  std::atomic<int> right{0};
  std::atomic<int> done{0};
  for (int i = 0; i < 2000; ++i) {
    if (i % 2)
      add(i, std::int64_t{i}, [&, i](Result<std::int64_t> sum) {
        if (sum.ok() && *sum == 2 * i) ++right;
        ++done;
      });
    else
      sleep(1 + i % 37, [&](Result<std::string> slept) {
        if (slept.ok() && *slept == "slept") ++right;
        ++done;
      });
  }
  ASSERT_TRUE(eventually([&] { return done == 2000; }, 20s));
  EXPECT_EQ(right, 2000);
}

TEST_F(Motan2Calls, HeadersTravelBothWaysAndNewlinesAreRefused) {
  ClientFunction<std::string(std::string)> hello{reference("motan2"), "hello"};
  CallOptions options;
  options.headers = Headers{{"traceId", "t-1"}, {"empty", ""}, {"M_s", "somebody"}};
  EXPECT_TRUE(hello.call(options, "x").ok());
  for (const auto& [key, value] : {std::pair("bad", "a\nb"), std::pair("b\nad", "a"), std::pair("M_p", "x")}) {
    options.headers = Headers{{key, value}};
    Result<std::string> refused = hello.call(options, "x");
    ASSERT_FALSE(refused.ok()) << key;
    EXPECT_EQ(refused.error().code(), Errc::invalid_argument);
    EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  }
  EXPECT_TRUE(hello("still fine").ok());
}

TEST_F(Motan2Calls, OversizeFailsThatCallOnly) {
  ClientFunction<std::string(std::string)> hello{reference("motan2"), "hello"};
  Result<std::string> refused = hello(std::string((4u << 20) + 1, 'x'));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::too_large);
  EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  // The request fits, the reply ("hello " in front) does not.
  refused = hello(std::string((4u << 20) - 8, 'x'));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::too_large);
  EXPECT_EQ(*hello("you"), "hello you");
}

TEST(Motan2Compression, ServersCompressUnaskedOnlyForPeersThatCanRead) {
  AppOptions chosen = motan_server_options();
  chosen.server.compress = Component("gzip");
  auto server = start(std::move(chosen), {demo_service()});
  ASSERT_TRUE(server);
  AppOptions with = motan_options("with");
  with.client.references["motan2"] = over("motan2", "simple", server->addresses().at(0));
  with.client.references["tenon"] = over("tenon", "simple", server->addresses().at(0));
  auto able = start(std::move(with));
  AppOptions without = options("without");
  without.client.references["tenon"] = over("tenon", "protobuf", server->addresses().at(0));
  auto unable = start(std::move(without));
  ASSERT_TRUE(able && unable);
  const std::string large(50'000, 'y');
  for (const auto& reference : {able->reference("motan2"), able->reference("tenon"), unable->reference("tenon")}) {
    ClientFunction<std::string(std::string)> hello{reference, "hello"};
    Result<std::string> said = hello(large);
    ASSERT_TRUE(said.ok()) << said.error().text();
    EXPECT_EQ(said->size(), large.size() + 6);
  }
}

TEST(Motan2Manifest, WhatItCannotCarryIsAnError) {
  AppOptions chosen = motan_options("client");
  chosen.client.references["r"] = over("motan2", "json", "127.0.0.1:1");
  auto app = App::create(std::move(chosen));
  Result<void> started = app.ok() ? (*app)->start() : Result<void>(app.error());
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Errc::config);
  EXPECT_NE(started.error().text().find("motan2 has no number for serializer \"json\""), std::string::npos)
      << started.error().text();
}

TEST(Motan2Groups, TheServiceThatFitsBest) {
  AppOptions chosen = motan_server_options();
  const auto offer = [&](const char* group, const char* version) {
    ServiceOptions service;
    service.name = demo_interface;
    service.group = group;
    service.version = version;
    chosen.server.services.push_back(service);
  };
  offer("a", "1.0");
  offer("b", "1.0");
  offer("b", "2.0");
  auto server = start(std::move(chosen), {demo_service()});
  ASSERT_TRUE(server);
  const auto call = [&](const char* group, const char* version) {
    AppOptions options = motan_options("client");
    ReferenceOptions reference = over("motan2", "simple", server->addresses().at(0));
    reference.group = group;
    reference.version = version;
    options.client.references["r"] = reference;
    auto client = start(std::move(options));
    ClientFunction<std::string(std::string)> hello{client->reference("r"), "hello"};
    Result<std::string> said = hello("x");
    return said.ok() ? Errc::ok : said.error().code();
  };
  EXPECT_EQ(call("a", "1.0"), Errc::ok);
  EXPECT_EQ(call("b", "2.0"), Errc::ok);
  EXPECT_EQ(call("a", ""), Errc::ok);          // one service in that group
  EXPECT_EQ(call("a", "9.9"), Errc::ok);
  EXPECT_EQ(call("b", ""), Errc::not_found);   // two in that group, and three of that interface
  EXPECT_EQ(call("c", "1.0"), Errc::not_found);
}

}  // namespace
}  // namespace tenon::test
