// How a network cuts, joins and delays bytes changes no result, whatever the protocol.

#include "conversation.hpp"
#include "integration/http/http_peer.hpp"
#include "support/fault_proxy.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

struct Way {
  std::string name;
  Faults faults;
};
void PrintTo(const Way& shown, std::ostream* out) { *out << shown.name; }

Faults jitter() {
  Faults faults = sliced(2000);
  faults.delay = 300us;
  faults.jitter = 2ms;
  return faults;
}
Faults narrow() { return {.bytes_per_second = 3'000'000}; }
const Way all_ways[] = {{"one_byte", one_byte()}, {"sliced", sliced(40)}, {"joined", joined()}, {"jitter", jitter()},
                        {"narrow", narrow()}};

class ThroughProxy : public testing::TestWithParam<Way> {
 protected:
  /// Small calls alone, many at once, then large ones among small ones.
  void talk(const Tongue& tongue) {
    CountedRuns counted;
    auto server = start(fault_server_options(tongue), {counted.service()});
    ASSERT_TRUE(server);
    FaultProxy proxy(server->addresses()[0], both(GetParam().faults));
    AppOptions chosen = fault_client_options(tongue, proxy.address());
    chosen.client.references["r"].timeout = 30s;
    auto client = start(std::move(chosen));
    ASSERT_TRUE(client);
    std::atomic<std::int64_t> numbers{0};
    Conversation talk(*client, numbers);
    for (const std::size_t size : {0u, 1u, 100u, 127u, 128u, 1000u}) {
      talk.begin(size);
      ASSERT_TRUE(talk.join());
    }
    for (std::size_t size = 0; size < 60; ++size) talk.begin(size);
    // On both sides of the size above which bodies are read in place (32 KiB).
    for (const std::size_t size : {(32u << 10) - 40, 5u, (32u << 10) + 1, 60u << 10, 7u}) talk.begin(size);
    ASSERT_TRUE(talk.join(40s));
    EXPECT_EQ(talk.good(), talk.calls().size());
    EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*server); }));
    EXPECT_EQ(proxy.accepted(), 1);  // nobody took the pieces for an error and connected again
    EXPECT_GT(proxy.to_server().bytes, 120'000u);
    client.reset();
    talk.expect_sound(counted);
  }
};

INSTANTIATE_TEST_SUITE_P(Tcp, ThroughProxy, testing::ValuesIn(all_ways),
                         [](const auto& info) { return info.param.name; });

TEST_P(ThroughProxy, Motan2) { talk({"motan2", "simple"}); }

TEST_P(ThroughProxy, Tenon) { talk({"tenon", "protobuf"}); }

TEST_P(ThroughProxy, Http) {
  CountedRuns counted;
  auto server = start(fault_server_options({"http", "json"}), {counted.service()});
  ASSERT_TRUE(server);
  FaultProxy proxy(server->addresses()[0], both(GetParam().faults));
  HttpPeer peer(proxy.address());
  const std::string path = std::string("/") + counted_interface + "/echo";
  std::int64_t number = 0;
  const auto post = [&](std::size_t size) {
    return peer.post(path, "[" + std::to_string(number++) + ",\"" + std::string(size, 'x') + "\"]");
  };
  const auto receive = [&](std::size_t size) {
    const HttpAnswer answer = peer.receive();
    EXPECT_EQ(answer.status, 200) << answer.head << answer.body;
    EXPECT_EQ(answer.body, '"' + std::string(size, 'x') + '"');
  };
  for (const std::size_t size : {0u, 1u, 100u}) {
    ASSERT_TRUE(post(size));
    receive(size);
  }
  // Pipelined, so that joining has something to join and slices cut across requests.
  const std::vector<std::size_t> sizes = {3, 0, 70, 35'000, 5};
  for (const std::size_t size : sizes) ASSERT_TRUE(post(size));
  for (const std::size_t size : sizes) receive(size);
  ASSERT_TRUE(peer.send("POST " + path + " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" +
                        "4\r\n[99,\r\n6\r\n\"xxxx\"\r\n1\r\n]\r\n0\r\n\r\n"));
  receive(4);
  for (std::int64_t n = 0; n < number; ++n) EXPECT_EQ(counted.runs(n), 1);
  EXPECT_EQ(counted.runs(99), 1);
  EXPECT_EQ(proxy.accepted(), 1);
}

/// An HTTP connection that ends at byte N, on the way in or out: no request runs twice, none that was not whole runs,
/// and the server forgets the connection.
TEST(HttpCutAtN, EndsTheConnectionAndNothingElse) {
  CountedRuns counted;
  auto server = start(fault_server_options({"http", "json"}), {counted.service()});
  ASSERT_TRUE(server);
  FaultProxy proxy(server->addresses()[0]);
  const std::string path = std::string("/") + counted_interface + "/echo";
  std::int64_t number = 0;
  const auto request = [&](std::int64_t n) {
    const std::string body = "[" + std::to_string(n) + ",\"text\"]";
    return "POST " + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  };
  const std::size_t answer_size = [&] {  // of the two requests that follow each other
    HttpPeer peer(proxy.address());
    EXPECT_TRUE(peer.send(request(number++)));
    const HttpAnswer answer = peer.receive();
    EXPECT_EQ(answer.status, 200);
    return answer.head.size() + answer.body.size();
  }();
  int connection = 1;
  std::size_t answered = 0;
  for (const Cut cut : {Cut::reset, Cut::close})
    for (const bool up : {true, false})
      for (std::uint64_t at = 0;; ++at, ++connection) {
        ConnectionFaults faults;
        (up ? faults.to_server : faults.to_client) = {.cut_at = at, .cut = cut};
        proxy.set(connection, faults);
        const std::string first = request(number);
        const std::string second = request(number + 1);
        const std::size_t whole = first.size() + second.size();
        RawSocket peer(proxy.address());
        (void)peer.send(first + second);
        std::string answers;
        const bool complete = peer.receive(answers, 2 * answer_size, 5000);
        if (complete) ++answered;
        peer.close();
        ASSERT_TRUE(eventually([&] { return server->counts().server_connections == 0 && idle(*server); }))
            << "at byte " << at;
        for (int i = 0; i < 2; ++i) {
          const int runs = counted.runs(number + i);
          EXPECT_LE(runs, 1);
          if (up && at < (i == 0 ? first.size() : whole)) {
            EXPECT_EQ(runs, 0) << "half a request ran, at byte " << at;
          }
        }
        number += 2;
        ASSERT_LT(at, 1000u);
        if (up ? at > whole : complete) {
          ++connection;
          break;
        }
      }
  EXPECT_GT(answered, 0u);
}

}  // namespace
}  // namespace tenon::test
