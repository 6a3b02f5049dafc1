// Servers that are no Consul agents, or bad ones: clear errors, nothing lost, nobody else harmed.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "consul_registry.hpp"
#include "support/raw_socket.hpp"
#include "support/registry_members.hpp"

namespace tenon::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string http(const std::string& status, const std::string& body, const std::string& headers = {}) {
  return "HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Answers each request by what `answer` says for its first line; "" closes the connection, "-" leaves it open without
/// an answer. What the registry needs to believe in an agent is answered by itself.
class Server {
 public:
  using Answer = std::function<std::string(const std::string& line)>;
  explicit Server(Answer answer) : answer_(std::move(answer)), thread_([this] { accept(); }) {}
  ~Server() {
    stopping_ = true;
    thread_.join();
    for (std::thread& each : threads_) each.join();
  }
  const std::string& address() const { return listener_.address(); }
  int requests() const { return requests_; }

 private:
  void accept() {
    while (!stopping_) {
      RawSocket socket = listener_.accept(20);
      if (socket.connected())
        threads_.emplace_back([this, socket = std::move(socket)]() mutable { serve(std::move(socket)); });
    }
  }
  void serve(RawSocket socket) {
    std::string received;
    while (!stopping_) {
      const std::size_t end = received.find("\r\n\r\n");
      if (end == std::string::npos) {
        if (!socket.receive(received, received.size() + 1, 20) && socket.closed_within(0)) return;
        continue;
      }
      const std::string line = received.substr(0, received.find("\r\n"));
      std::size_t body = 0;
      if (const std::size_t at = received.find("Content-Length: "); at < end)
        body = static_cast<std::size_t>(std::stoi(received.substr(at + 16)));
      while (!stopping_ && received.size() < end + 4 + body && socket.receive(received, end + 4 + body, 20)) {
      }
      received.erase(0, end + 4 + body);
      ++requests_;
      const std::string said =
          line.find("tenon-probe") != std::string::npos ? http("404 Not Found", "") : answer_(line);
      if (said == "-") {
        while (!stopping_) std::this_thread::sleep_for(milliseconds(5));
        return;
      }
      if (said.empty() || !socket.send(said)) return;
      if (said.find("Content-Length: 60000") != std::string::npos) return;  // a truncated one
    }
  }

  RawListener listener_;
  const Answer answer_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> requests_ = 0;
  std::vector<std::thread> threads_;
  std::thread thread_;
};

consul::ConsulOptions options_for(const std::string& address) {
  consul::ConsulOptions options;
  options.address = address;
  options.connect_timeout = milliseconds(300);
  options.request_timeout = milliseconds(300);
  options.max_answer = 64u << 10;
  options.show_consumers = false;
  return options;
}

/// What the first observer of a registry at that server hears.
Error heard_from(const Server& server) {
  struct Heard {
    std::mutex mutex;
    std::condition_variable arrived;
    Error error;
    bool done = false;
  };
  const auto heard = std::make_shared<Heard>();
  RegistryMember member([&](Environment environment) -> std::unique_ptr<Registry> {
    auto made = consul::ConsulRegistry::create(options_for(server.address()), environment);
    return made.ok() ? std::move(*made) : nullptr;
  });
  const std::unique_ptr<Watch> watch = member.on([&] {
    return std::move(*member.registry->watch({{"demo.Greeter", "blue", ""}, "test"}, [heard](const auto& news) {
      const std::lock_guard lock(heard->mutex);
      if (heard->done) return;
      heard->done = true;
      if (!news.ok()) heard->error = news.error();
      heard->arrived.notify_all();
    }));
  });
  {
    std::unique_lock lock(heard->mutex);
    heard->arrived.wait_for(lock, seconds(10), [&] { return heard->done; });
    EXPECT_TRUE(heard->done) << "nothing was heard";
  }
  member.on([&] { const_cast<std::unique_ptr<Watch>&>(watch).reset(); });
  const std::lock_guard lock(heard->mutex);
  return heard->error;
}

struct Bad {
  const char* name;
  std::string answer;
  Errc code;
  std::string text;
};

class ConsulBadAgents : public testing::TestWithParam<Bad> {};

TEST_P(ConsulBadAgents, AreNotBelieved) {
  const Server server([](const std::string&) { return GetParam().answer; });
  const Error error = heard_from(server);
  ASSERT_TRUE(error) << "an empty list would be news of nobody";
  EXPECT_EQ(error.code(), GetParam().code) << error.text();
  EXPECT_NE(error.text().find(GetParam().text), std::string::npos) << error.text();
  EXPECT_LT(server.requests(), 200) << "no hot loop";
}

const std::string index_header = "X-Consul-Index: 5\r\n";

INSTANTIATE_TEST_SUITE_P(
    All, ConsulBadAgents,
    testing::Values(
        Bad{"NoHttp", "SSH-2.0-OpenSSH_9.2\r\n\r\n", Errc::malformed, "it does not answer in HTTP"},
        Bad{"NoJson", http("200 OK", "<html></html>", index_header), Errc::malformed, "no JSON"},
        Bad{"OtherJson", http("200 OK", "{\"a\":1}", index_header), Errc::malformed, "no list of instances"},
        Bad{"Oversized", http("200 OK", std::string(65 << 10, ' '), index_header), Errc::too_large, "max_answer"},
        Bad{"OversizedChunks",
            "HTTP/1.1 200 OK\r\nX-Consul-Index: 5\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n" +
                std::string(0x20000, ' ') + "\r\n0\r\n\r\n",
            Errc::too_large, "max_answer"},
        Bad{"Truncated", "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n[{", Errc::unavailable,
            "ended before its answer"},
        Bad{"EndlessHeader", "HTTP/1.1 200 OK\r\nA: " + std::string(20000, 'a') + "\r\n\r\n", Errc::malformed, "HTTP"},
        Bad{"Ends", "", Errc::unavailable, "the connection ended before its answer"},
        Bad{"Silent", "-", Errc::deadline_exceeded, "waited 300 ms for its answer"},
        Bad{"NoLeader", http("500 Internal Server Error", "No cluster leader"), Errc::unavailable,
            "answers 500 (No cluster leader)"},
        Bad{"NoRights", http("403 Forbidden", "Permission denied"), Errc::permission_denied, "give a token"},
        Bad{"SomeWebServer", http("404 Not Found", "no such page"), Errc::not_found, "answers 404 (no such page)"},
        Bad{"Moved", http("301 Moved Permanently", ""), Errc::malformed, "answers 301"}),
    [](const auto& info) { return info.param.name; });

TEST(ConsulBadAgent, IsAskedAgainUntilItIsAGoodOne) {
  std::atomic<bool> good = false;
  const Server server([&](const std::string& line) {
    if (!good) return http("500 Internal Server Error", "rpc error");
    if (line.find("index=") != std::string::npos) return std::string("-");
    if (line.find("/v1/kv/") != std::string::npos) return http("404 Not Found", "", index_header);
    return http("200 OK", "[]", index_header);
  });
  RegistryMember member([&](Environment environment) -> std::unique_ptr<Registry> {
    auto made = consul::ConsulRegistry::create(options_for(server.address()), environment);
    return made.ok() ? std::move(*made) : nullptr;
  });
  std::atomic<int> errors = 0;
  std::atomic<int> news = 0;
  std::unique_ptr<Watch> watch = member.on([&] {
    return std::move(*member.registry->watch({{"demo.Greeter", "blue", ""}, "test"},
                                             [&](const auto& heard) { ++(heard.ok() ? news : errors); }));
  });
  const auto until = std::chrono::steady_clock::now() + seconds(10);
  while (errors == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(errors, 1) << "said once";
  good = true;
  while (news == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(news, 1);
  member.on([&] { watch.reset(); });
}

// An index of 0, none, or one that goes backwards is no reason to ask at once, or to wait for what has been.
TEST(ConsulBadAgent, OddIndicesNeitherSpinNorStop) {
  std::mutex mutex;
  std::vector<std::string> asked;
  std::atomic<int> count = 0;
  const Server server([&](const std::string& line) {
    if (line.find("/v1/kv/") != std::string::npos)
      return line.find("index=") == std::string::npos ? http("404 Not Found", "", index_header) : std::string("-");
    const std::lock_guard lock(mutex);
    asked.push_back(line);
    const int number = ++count;
    if (number == 1) return http("200 OK", "[]", "X-Consul-Index: 100\r\n");
    if (number == 2) return http("200 OK", "[]", "X-Consul-Index: 7\r\n");
    if (number == 3) return http("200 OK", "[]", "X-Consul-Index: 0\r\n");
    return http("200 OK", "[]");
  });
  RegistryMember member([&](Environment environment) -> std::unique_ptr<Registry> {
    auto made = consul::ConsulRegistry::create(options_for(server.address()), environment);
    return made.ok() ? std::move(*made) : nullptr;
  });
  SnapshotDiary diary;
  member.watch({"demo.Greeter", "blue", ""}, diary);
  const auto until = std::chrono::steady_clock::now() + seconds(10);
  while (count < 4 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(2));
  ASSERT_GE(count, 4);
  member.end_watches();
  const std::lock_guard lock(mutex);
  EXPECT_EQ(asked[0].find("index="), std::string::npos);
  EXPECT_NE(asked[1].find("index=100&wait="), std::string::npos) << asked[1];
  EXPECT_EQ(asked[2].find("index="), std::string::npos) << "a new history: " << asked[2];
  EXPECT_EQ(asked[3].find("index="), std::string::npos) << asked[3];
  EXPECT_LT(asked.size(), 10u) << "no hot loop";
}

}  // namespace
}  // namespace tenon::test
