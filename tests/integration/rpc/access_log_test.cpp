// Filter "access-log" around real calls, on both sides.
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "access_log_options.hpp"
#include "support/test_apps.hpp"

namespace tenon {
namespace {

namespace bj = boost::json;
namespace fs = std::filesystem;

class AccessLogCalls : public testing::Test {
 protected:
  AccessLogCalls() {
    static int number = 0;
    folder_ = fs::temp_directory_path() / ("tenon-calls-" + std::to_string(getpid()) + "-" + std::to_string(++number));
    fs::create_directories(folder_);
  }
  ~AccessLogCalls() override { fs::remove_all(folder_); }

  Component filter(const std::string& file) const {
    access::AccessLogOptions options;
    options.file = (folder_ / file).string();
    options.headers = {"user", "trace"};
    options.queue = 1u << 16;
    return Component::of("access-log", options);
  }
  std::unique_ptr<App> server() const {
    AppOptions options = test::server_options();
    options.plugins.load.push_back("filter-access-log");
    options.runtime.io_threads = 2;
    ServiceOptions offered;
    offered.name = "test.Echo";
    offered.filters = {filter("server.log")};
    options.server.services = {offered};
    auto service = std::make_shared<Functions>("test.Echo");
    service->add("echo", [](const std::string& text) -> Result<std::string> {
      if (text == "fail") return Error(Errc::application, "as you wish\n\"{}\"", Delivery::ran);
      return text;
    });
    return test::start(std::move(options), {service});
  }
  std::unique_ptr<App> client(const App& server) const {
    AppOptions options = test::client_options("test.Echo", server.addresses()[0]);
    options.plugins.load.push_back("filter-access-log");
    options.runtime.io_threads = 2;
    options.client.references["r"].filters = {filter("client.log")};
    for (const char* name : {"a", "b", "c"}) options.client.references[name] = options.client.references["r"];
    return test::start(std::move(options));
  }
  std::vector<bj::object> lines(const std::string& file) const {
    std::vector<bj::object> all;
    std::ifstream in(folder_ / file);
    for (std::string line; std::getline(in, line);) all.push_back(bj::parse(line).as_object());
    return all;
  }
  fs::path folder_;
};

using Echo = ClientFunction<std::string(std::string)>;

TEST_F(AccessLogCalls, BothSidesWriteWhatTheyKnow) {
  auto serving = server();
  ASSERT_TRUE(serving);
  auto calling = client(*serving);
  ASSERT_TRUE(calling);
  const Echo echo(calling->reference("r"), "echo");
  CallOptions options;
  options.headers = {{"user", "ray"}, {"secret", "s"}};
  ASSERT_TRUE(echo.call(options, "x").ok());
  EXPECT_FALSE(echo("fail").ok());
  calling.reset();
  serving.reset();
  const auto server_lines = lines("server.log");
  const auto client_lines = lines("client.log");
  ASSERT_EQ(server_lines.size(), 2u);
  ASSERT_EQ(client_lines.size(), 2u);
  EXPECT_EQ(server_lines[0].at("side").as_string(), "server");
  EXPECT_EQ(server_lines[0].at("service").as_string(), "test.Echo");
  EXPECT_EQ(server_lines[0].at("method").as_string(), "echo");
  EXPECT_EQ(server_lines[0].at("protocol").as_string(), "tenon");
  EXPECT_EQ(std::string_view(server_lines[0].at("peer").as_string()).substr(0, 10), "127.0.0.1:");
  EXPECT_GT(server_lines[0].at("request_bytes").as_int64(), 0);
  EXPECT_EQ(server_lines[0].at("headers").as_object().size(), 1u);
  EXPECT_EQ(server_lines[0].at("headers").as_object().at("user").as_string(), "ray");
  EXPECT_EQ(client_lines[0].at("side").as_string(), "client");
  EXPECT_EQ(client_lines[0].at("attempt").as_int64(), 0);
  for (const auto& line : {server_lines[1], client_lines[1]}) {
    EXPECT_EQ(line.at("code").as_string(), "application");
    EXPECT_EQ(line.at("delivery").as_string(), "ran");
    EXPECT_NE(std::string_view(line.at("error").as_string()).find("as you wish\n\"{}\""), std::string_view::npos);
  }
}

TEST_F(AccessLogCalls, HeadersOfAHostilePeerForgeNothing) {
  auto serving = server();
  ASSERT_TRUE(serving);
  auto calling = client(*serving);
  ASSERT_TRUE(calling);
  const Echo echo(calling->reference("r"), "echo");
  const std::vector<std::string> hostile = {
      "\n{\"time\":\"2026-01-01T00:00:00Z\",\"user\":\"admin\",\"code\":\"ok\"}\n",
      "\",\"code\":\"ok\",\"x\":\"",
      "\r\x1B[2J\x1B]0;owned\x07",
      "\xE2\x80\xA8\xE2\x80\xAE\xC2\x85",
      std::string(5000, '\\'),
  };
  for (const std::string& value : hostile) {
    CallOptions options;
    options.headers = {{"user", value}, {"trace", value}};
    const auto answer = echo.call(options, "x");
    ASSERT_TRUE(answer.ok()) << answer.error().text();
  }
  calling.reset();
  serving.reset();
  for (const char* file : {"server.log", "client.log"}) {
    const auto all = lines(file);
    ASSERT_EQ(all.size(), hostile.size()) << file;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].at("method").as_string(), "echo");
      const std::string user(all[i].at("headers").as_object().at("user").as_string());
      EXPECT_EQ(user.substr(0, 20), hostile[i].substr(0, 20)) << "what was sent, as a value";
      EXPECT_LT(user.size(), 300u);
    }
  }
}

TEST_F(AccessLogCalls, TenThousandCallsOfFourThreadsAreTenThousandLines) {
  auto serving = server();
  ASSERT_TRUE(serving);
  auto calling = client(*serving);
  ASSERT_TRUE(calling);
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (const char* name : {"a", "b", "c", "r"})
    threads.emplace_back([&, name] {
      const Echo echo(calling->reference(name), "echo");
      for (int i = 0; i < 2500; ++i) {
        CallOptions options;
        options.headers = {{"trace", std::string(name) + std::to_string(i)}};
        if (echo.call(options, "x").ok()) ++good;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 10000);
  calling.reset();
  serving.reset();
  for (const char* file : {"server.log", "client.log"}) {
    const auto all = lines(file);
    EXPECT_EQ(all.size(), 10000u) << file;
    std::set<std::string> traces;
    for (const bj::object& line : all) traces.emplace(line.at("headers").as_object().at("trace").as_string());
    EXPECT_EQ(traces.size(), 10000u) << file;
  }
}

}  // namespace
}  // namespace tenon
