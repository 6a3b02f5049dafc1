// Peers that misbehave on a connection that is fine.

#include <fcntl.h>

#include <random>
#include <thread>

#include "conversation.hpp"
#include "integration/motan2/frames.hpp"
#include "measures.hpp"
#include "support/fault_proxy.hpp"
#include "support/raw_socket.hpp"
#include "tenon/scope.hpp"
#include "tenon/serve.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

constexpr Tongue tenon_tongue{"tenon", "protobuf"};
constexpr Tongue motan_tongue{"motan2", "simple"};
const auto tongue_name = [](const testing::TestParamInfo<Tongue>& info) { return std::string(info.param.protocol); };

class Peers : public testing::TestWithParam<Tongue> {};
INSTANTIATE_TEST_SUITE_P(Each, Peers, testing::Values(tenon_tongue, motan_tongue), tongue_name);

// PRO-11. A thousand pipelined requests, answered in random order; the connection ends when a third is: the others fail
// at once, none waits for its deadline.
TEST_P(Peers, SomeOfAThousandAnswersInRandomOrderThenTheEnd) {
  CountedRuns counted;
  auto server = start(fault_server_options(GetParam()), {counted.service()});
  ASSERT_TRUE(server);
  for (const Cut how : {Cut::reset, Cut::close}) {
    FaultProxy proxy(server->addresses()[0]);
    AppOptions chosen = fault_client_options(GetParam(), proxy.address());
    chosen.client.references["r"].timeout = 60s;
    chosen.client.references["r"].ha = Component("failfast");
    auto client = start(std::move(chosen));
    ASSERT_TRUE(client);
    const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> nap(client->reference("r"), "nap");
    constexpr int calls = 1000;
    std::vector<std::atomic<int>> completions(calls);
    std::atomic<int> good = 0, cut = 0, other = 0;
    std::minstd_rand random(7);
    for (int i = 0; i < calls; ++i) {
      // Half of them, by chance, would be answered long after the cut, however slow this machine is.
      const auto length = static_cast<std::int64_t>(random() % 150 + (random() % 2 ? 1500 : 0));
      nap(i, length, [&, i](Result<std::int64_t> answer) {
        ++completions[static_cast<std::size_t>(i)];
        if (answer.ok() && *answer == i)
          ++good;
        else if (!answer.ok() && answer.error().code() == Errc::unavailable &&
                 answer.error().delivery() == Delivery::maybe_run)
          ++cut;
        else
          ++other;
      });
    }
    ASSERT_TRUE(eventually([&] { return good >= calls / 3; }, 20s));
    proxy.cut(how);
    EXPECT_TRUE(eventually([&] { return good + cut + other == calls; })) << good << ' ' << cut;
    EXPECT_EQ(other, 0);
    EXPECT_GT(cut, 0);
    EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*server); }));
    for (const auto& times : completions) ASSERT_EQ(times, 1);
  }
}

// PRO-1. Whatever does not speak one of the port's protocols is closed, and told apart from who does.
TEST(OnePortOfThree, StrangersAreClosedAndHurtNobody) {
  CountedRuns counted;
  AppOptions chosen = fault_server_options(tenon_tongue);
  chosen.server.listen[0].protocols = {Component("tenon"), Component("motan2"), Component("http")};
  auto server = start(std::move(chosen), {counted.service()});
  ASSERT_TRUE(server);
  auto client = start(fault_client_options(tenon_tongue, server->addresses()[0]));
  ASSERT_TRUE(client);
  const Conversation::Echo echo(client->reference("r"), "echo");
  const std::string tls("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  const std::string strangers[] = {tls,
                                   std::string(4096, '\0'),
                                   std::string(4096, '\xff'),
                                   "\x89TENON\r\r",
                                   std::string("\xf1\xf2", 2) + std::string(30, '\x01'),
                                   "\r\n\r\n\r\n",
                                   "SSH-2.0-OpenSSH_9\r\n",
                                   "GET\r\n",
                                   std::string("\x00\x00\x00\x08", 4)};
  for (const std::string& bytes : strangers) {
    RawSocket stranger(server->addresses()[0]);
    ASSERT_TRUE(stranger.connected());
    (void)stranger.send(bytes);
    EXPECT_TRUE(stranger.closed_within(3000)) << "bytes starting with " << bytes.substr(0, 8);
    EXPECT_EQ(*echo(1, "x"), "x");
  }
  EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 1; }));
}

// PRO-10. A server that answers twice, and what nobody asked: each call completes once, with its own answer.
TEST(DishonestServer, AnswersTwiceAndUnasked) {
  RawListener listener;
  AppOptions chosen = fault_client_options(motan_tongue, listener.address());
  chosen.client.references["r"].connect_timeout = 5s;
  auto client = start(std::move(chosen));
  ASSERT_TRUE(client);
  RawSocket socket = listener.accept();
  ASSERT_TRUE(socket.connected());
  const Conversation::Echo echo(client->reference("r"), "echo");
  constexpr unsigned version1 = 1 << 3, simple = 6, answer = 1;
  const auto text = [](const std::string& value) { return '\x01' + big_endian(value.size(), 4) + value; };
  // Reads one request; returns its id.
  std::string bytes;
  const auto request = [&]() -> std::uint64_t {
    const auto number = [&](std::size_t at, int size) {
      std::uint64_t value = 0;
      for (int i = 0; i < size; ++i)
        value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
      return value;
    };
    EXPECT_TRUE(socket.receive(bytes, 17, 5000));
    const std::size_t metadata = number(13, 4);
    EXPECT_TRUE(socket.receive(bytes, 17 + metadata + 4, 5000));
    const std::size_t whole = 17 + metadata + 4 + number(17 + metadata, 4);
    EXPECT_TRUE(socket.receive(bytes, whole, 5000));
    const std::uint64_t id = number(5, 8);
    bytes.erase(0, whole);
    return id;
  };
  const auto reply = [&](std::uint64_t id, const std::string& value) {
    return raw_frame(answer, version1, simple, id, "", text(value));
  };
  std::vector<std::atomic<int>> completions(6);
  std::vector<std::string> answers(6);
  for (std::size_t round = 0; round < 3; ++round) {
    for (const std::size_t call : {2 * round, 2 * round + 1})
      echo(static_cast<std::int64_t>(call), "x", [&, call](Result<std::string> got) {
        answers[call] = got.ok() ? *got : got.error().text();
        ++completions[call];
      });
    const std::uint64_t first = request();
    const std::uint64_t second = request();
    ASSERT_NE(first, second);
    // The second one twice, with different texts, a stranger's, and only then the first one's.
    ASSERT_TRUE(socket.send(reply(second, "second") + reply(second, "again") + reply(second ^ 0x40000000u, "strange") +
                            reply(first, "first") + reply(first, "again")));
    ASSERT_TRUE(eventually([&] { return completions[2 * round] > 0 && completions[2 * round + 1] > 0; }));
  }
  std::this_thread::sleep_for(20ms);
  for (std::size_t call = 0; call < 6; ++call) {
    EXPECT_EQ(completions[call], 1);
    EXPECT_EQ(answers[call], call % 2 ? "second" : "first");
  }
  EXPECT_TRUE(idle(*client));
}

std::string ping_of_tenon() { return std::string("\x09\x05\x07\0\0\0\0\0\0\0", 10); }
std::string preface_of_tenon() {
  // As in protocol-tenon's README.
  return "\x89TENON\r\n" + std::string("\x10\x01\x01\x00\x80\x80\x80\x02\x80\x80\x04\x80\x01\x80\x80\x04\x00", 17);
}
std::string heartbeat_of_motan() { return raw_frame(0x10, 1 << 3, 6, 77, "", ""); }

// PRO-12. A hundred thousand heartbeats from a peer that reads no answer: bounded memory, others are served.
TEST_P(Peers, AFloodOfHeartbeatsThatNobodyReadsTheAnswersOf) {
  CountedRuns counted;
  auto server = start(fault_server_options(GetParam()), {counted.service()});
  ASSERT_TRUE(server);
  auto client = start(fault_client_options(GetParam(), server->addresses()[0]));
  ASSERT_TRUE(client);
  const Conversation::Echo echo(client->reference("r"), "echo");
  ASSERT_TRUE(echo(1, "x").ok());
  const bool tenon = std::string(GetParam().protocol) == "tenon";
  std::string bytes = tenon ? preface_of_tenon() : "";
  for (int i = 0; i < 100'000; ++i) bytes += tenon ? ping_of_tenon() : heartbeat_of_motan();
  const std::size_t before = resident_kib();
  RawSocket flood(server->addresses()[0]);
  (void)::fcntl(flood.fd(), F_SETFL, O_NONBLOCK);
  std::size_t sent = 0;
  for (int round = 0; round < 20; ++round) {  // several times over: what is not read stays bounded
    std::string_view rest = std::string_view(bytes).substr(tenon && round > 0 ? preface_of_tenon().size() : 0);
    for (int tries = 0; !rest.empty() && tries < 50;) {
      const ssize_t put = ::send(flood.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (put > 0) {
        sent += static_cast<std::size_t>(put);
        rest.remove_prefix(static_cast<std::size_t>(put));
      } else {
        ++tries;
        std::this_thread::sleep_for(200us);
      }
    }
    if (!rest.empty()) break;  // the server has stopped reading
    ASSERT_TRUE(echo(2, "x").ok());
  }
  EXPECT_GT(sent, 1'000'000u);
  EXPECT_LT(resident_kib(), before + 24 * 1024);
  EXPECT_TRUE(echo(3, "x").ok());
  flood.close();
  EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 1; }));
}

/// One-way notes that take their time; how many run at once.
class Notes final : public Service {
 public:
  std::string_view interface() const noexcept override { return "test.Notes"; }
  std::span<const Method> methods() const noexcept override { return {&method_, 1}; }
  Task<Result<Response>> call(Request& request) override {
    auto note = [this, clock = &request.info->executor->clock()](const Arguments<std::int64_t>& in, Void&) {
      return take(*clock, std::get<0>(in.values));
    };
    return serve<Arguments<std::int64_t>, Void>(request, note);
  }
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;

 private:
  Task<Result<void>> take(Clock& clock, std::int64_t milliseconds) {
    const int now = ++running;
    for (int before = most; now > before && !most.compare_exchange_weak(before, now);) {
    }
    if (milliseconds > 0) {
      sleep_until nap(clock, clock.now() + std::chrono::milliseconds(milliseconds));
      co_await nap;
    }
    --running;
    ++done;
    co_return Result<void>();
  }
  const Method method_{"note", Shape::one_way, &message_type<Arguments<std::int64_t>>(), &message_type<Void>(), false};
};

// PRO-12, I9. Nobody waits for a one-way request, so nothing but the server's limits stops one who sends them as fast
// as he can: they are his connection's limits, others are served.
class OneWayFlood : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(On, OneWayFlood, testing::Values("inline", "pool"),
                         [](const auto& info) { return info.param; });
TEST_P(OneWayFlood, IsItsConnectionsOwnTrouble) {
  CountedRuns counted;
  auto notes = std::make_shared<Notes>();
  AppOptions serving = fault_server_options(tenon_tongue);
  serving.server.max_in_flight = 1000;
  serving.server.limits.max_concurrent = 100;
  serving.server.pools["pool"] = PoolOptions{2, 1000};
  for (const char* name : {counted_interface, "test.Notes"}) {
    ServiceOptions offered;
    offered.name = name;
    if (name != counted_interface) offered.pool = GetParam();
    serving.server.services.push_back(offered);
  }
  auto server = start(std::move(serving), {counted.service(), notes});
  ASSERT_TRUE(server);
  auto client = start(fault_client_options(tenon_tongue, server->addresses()[0]));
  AppOptions flooding = fault_client_options(tenon_tongue, server->addresses()[0]);
  flooding.client.references["r"].service = "test.Notes";
  auto flooder = start(std::move(flooding));
  ASSERT_TRUE(client && flooder);
  const Conversation::Echo echo(client->reference("r"), "echo");
  const ClientMethod<Arguments<std::int64_t>, Void> note(flooder->reference("r"), notes->methods()[0]);
  ASSERT_TRUE(echo(1, "x").ok());
  const std::size_t before = resident_kib();
  for (const std::int64_t nap : {std::int64_t{100}, std::int64_t{0}}) {
    std::atomic<bool> stop = false;
    std::atomic<int> sent = 0;
    std::thread flood([&] {
      const Arguments<std::int64_t> in{{nap}};
      for (; !stop; ++sent) (void)note(in);  // those that do not fit any more are refused at once
    });
    EXPECT_TRUE(eventually([&] { return sent > 5000; }, 20s));
    for (int i = 0; i < 100; ++i) {
      const Result<std::string> answer = echo(2 + i, "x");
      EXPECT_TRUE(answer.ok()) << answer.error().text();
    }
    stop = true;
    flood.join();
    EXPECT_TRUE(eventually([&] { return notes->running == 0 && idle(*server); }));
  }
  EXPECT_LE(notes->most, 100);
  EXPECT_GT(notes->done, 100);
  EXPECT_LT(resident_kib(), before + 24 * 1024);
  const int done = notes->done;
  EXPECT_TRUE(note(Arguments<std::int64_t>{{0}}).ok()) << "the connection lives";
  EXPECT_TRUE(eventually([&] { return notes->done > done; }, 30s));
  EXPECT_EQ(server->counts().server_connections, 2u);
}

// PRO-13. Bytes that break texts: as they were, or refused; nothing else.
TEST_P(Peers, HeadersAndTextsOfAnyBytes) {
  CountedRuns counted;
  auto service = std::make_shared<Functions>(counted_interface);
  service->add("back", [](const std::string& text) { return text; });
  auto server = start(fault_server_options(GetParam()), {service});
  ASSERT_TRUE(server);
  auto client = start(fault_client_options(GetParam(), server->addresses()[0]));
  ASSERT_TRUE(client);
  const ClientFunction<std::string(std::string)> back(client->reference("r"), "back");
  const std::string odd[] = {std::string("nul\0nul", 7), "\xff\xfe\x80",        "a\r\nb: c", "\x1b[31m", "%s%n%x",
                             std::string(300, '\x80'),   "\xc3\xa9\xe2\x82\xac"};
  for (const std::string& text : odd) {
    CallOptions options;
    options.headers.set("odd", text);
    const Result<std::string> with_header = back.call(options, "x");
    if (!with_header.ok()) {
      EXPECT_EQ(with_header.error().code(), Errc::invalid_argument) << with_header.error().text();
      EXPECT_EQ(with_header.error().delivery(), Delivery::not_run);
    }
    const Result<std::string> as_text = back(text);
    if (as_text.ok()) {
      EXPECT_EQ(*as_text, text);
    } else {
      EXPECT_EQ(as_text.error().code(), Errc::invalid_argument) << as_text.error().text();
    }
    EXPECT_EQ(*back("fine"), "fine");
  }
}

}  // namespace
}  // namespace tenon::test
