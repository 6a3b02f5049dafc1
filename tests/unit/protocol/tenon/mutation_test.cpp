// Two seconds of damaged conversations. What must hold: no crash (sanitizers), no fabricated frame kinds for a side,
// and the way the bytes are cut changes nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

struct Random {
  std::uint64_t state;
  std::uint64_t operator()(std::uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
  }
};

struct Reading {
  std::vector<std::string> seen;
  std::string error;
  std::string output;
};

Reading run_server(std::string_view bytes, std::size_t chunk) {
  Peer server(Side::server, {.max_frame = 100'000, .max_headers = 500, .max_header_count = 5, .max_concurrent = 8});
  const Error error = server.feed(bytes, chunk);
  return {texts(server.sink.seen), error ? error.text() : "", server.drain()};
}

std::string requests(Peer& client, const Methods& methods, Random& random);

std::string conversation(Random& random) {
  Methods methods;
  Peer client(Side::client);
  if (random(2)) {  // it knows the server, and sends large requests in parts
    Peer server(Side::server);
    const std::string preface = client.drain();
    EXPECT_FALSE(server.feed(preface));
    EXPECT_FALSE(client.feed(server.drain()));
    return preface + requests(client, methods, random);
  }
  return requests(client, methods, random);
}

std::string requests(Peer& client, const Methods& methods, Random& random) {
  const std::string large(50'000, 'L');
  for (std::uint32_t call = 0; call < 6; ++call) {
    Frame sent = request(random(2) ? methods.hello : methods.goodbye, static_cast<std::uint32_t>(random(9)), "body");
    sent.one_way = random(4) == 0;
    if (random(2)) sent.headers = Headers{{"key", "value"}, {"n", std::to_string(random(2))}};
    if (random(6) == 0) sent.body = large;
    sent.stream = !sent.one_way && random(3) == 0;
    if (random(4) == 0) sent.attachment = attached(random(2) ? "beside" : std::string_view(large).substr(0, 20'000));
    (void)client.session.send(sent);  // a number in use is refused, as it should be
    if (random(5) == 0) {
      Frame ping = plain(FrameKind::ping, call);
      EXPECT_TRUE(client.session.send(ping).ok());
    }
    if (random(5) == 0) {
      Frame cancel = plain(FrameKind::cancel, call);
      EXPECT_TRUE(client.session.send(cancel).ok());
    }
    if (random(5) == 0) {
      Frame give = credit(call, 1000);
      (void)client.session.send(give);  // not every call asked for a stream
    }
  }
  if (random(4) == 0) client.session.close(Error(Errc::cancelled, "done"));
  return client.drain();
}

void damage(std::string& bytes, Random& random) {
  for (std::uint64_t n = random(4) + 1; n-- > 0 && bytes.size() > 1;) {
    const std::size_t at = random(bytes.size());
    switch (random(5)) {
      case 0: bytes[at] = static_cast<char>(random(256)); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random(8))); break;
      case 2: bytes.erase(at, random(8) + 1); break;
      case 3: bytes.insert(at, std::string(random(8) + 1, static_cast<char>(random(256)))); break;
      default: bytes.resize(at + 1); break;
    }
  }
}

TEST(Mutation, DamagedRequestsGiveTheSameResultHoweverCut) {
  Random random{0x9E3779B97F4A7C15u};
  const auto until = std::chrono::steady_clock::now() + 1s;
  int rounds = 0;
  int failed = 0;
  while (std::chrono::steady_clock::now() < until) {
    std::string bytes = conversation(random);
    damage(bytes, random);
    const Reading whole = run_server(bytes, std::string::npos);
    const Reading cut = run_server(bytes, random(40) + 1 + bytes.size() / 2000);
    ASSERT_EQ(whole.seen, cut.seen) << "round " << rounds;
    // A bad preface quotes what had arrived.
    ASSERT_EQ(whole.error.substr(0, whole.error.find('"')), cut.error.substr(0, cut.error.find('"')))
        << "round " << rounds;
    // A large frame that ends too early may have been answered already or not: it depends on how much came at once.
    const std::size_t common = std::min(whole.output.size(), cut.output.size());
    if (whole.error.find('"') == std::string::npos) {
      ASSERT_EQ(whole.output.substr(0, common), cut.output.substr(0, common)) << "round " << rounds;
    }
    failed += !whole.error.empty();
    ++rounds;
  }
  EXPECT_GT(rounds, 20);
  EXPECT_GT(failed, 0);
}

TEST(Mutation, DamagedAnswersNeverReachASinkTwice) {
  Random random{0x2545F4914F6CDD1Du};
  const auto until = std::chrono::steady_clock::now() + 1s;
  int rounds = 0;
  while (std::chrono::steady_clock::now() < until) {
    Pair pair;
    for (std::uint32_t call = 0; call < 6; ++call) {
      Frame sent = request(pair.hello, call, "");
      sent.stream = call % 2 == 1;
      ASSERT_TRUE(pair.client.session.send(sent).ok());
    }
    ASSERT_FALSE(pair.to_server());
    const std::string large(90'000, 'R');
    for (std::uint32_t call = 0; call < 6; ++call) {
      Frame reply =
          random(3) == 0 ? failure(call, Error(Errc::application, "no").foreign("app", 7)) : response(call, "yes");
      if (random(8) == 0) reply.body = large;
      if (random(2)) reply.headers = Headers{{"h", std::to_string(random(2))}};
      if (random(4) == 0) reply.attachment = attached(std::string_view(large).substr(0, random(60'000)));
      reply.stream = reply.kind == FrameKind::response && call % 2 == 1;
      ASSERT_TRUE(pair.server.session.send(reply).ok());
      for (std::uint64_t n = reply.stream ? random(4) : 0; n-- > 0;) {
        Frame one = message(call, random(6) ? "one" : std::string_view(large));
        if (random(3) == 0) one.attachment = attached("beside");
        ASSERT_TRUE(pair.server.session.send(one).ok());
      }
      if (!reply.stream || random(3) == 0) continue;
      Frame last = end(call, random(2) ? Error() : Error(Errc::application, "no"));
      if (random(2)) last.headers = Headers{{"t", "v"}};
      ASSERT_TRUE(pair.server.session.send(last).ok());
    }
    if (random(3) == 0) pair.server.session.close(Error(Errc::unavailable, "bye"));
    std::string bytes = pair.server.drain();
    damage(bytes, random);
    const Error error = pair.client.feed(bytes, random(3) ? random(5000) + 1 : std::string::npos);
    std::vector<std::uint32_t> answered;
    std::set<std::uint32_t> over, streams;
    for (const Seen& seen : pair.client.sink.seen) {
      if (seen.kind == FrameKind::goaway || seen.kind == FrameKind::ping || seen.kind == FrameKind::pong) continue;
      EXPECT_TRUE(over.count(seen.call) == 0);
      if (seen.kind == FrameKind::response || seen.kind == FrameKind::error) answered.push_back(seen.call);
      if (seen.kind == FrameKind::response && seen.stream)
        streams.insert(seen.call);
      else if (seen.kind != FrameKind::message)
        over.insert(seen.call);
      if (seen.kind == FrameKind::message || seen.kind == FrameKind::end) {
        EXPECT_EQ(streams.count(seen.call), 1u);
      }
    }
    std::sort(answered.begin(), answered.end());
    EXPECT_EQ(std::adjacent_find(answered.begin(), answered.end()), answered.end());
    for (const std::uint32_t call : answered) EXPECT_LT(call, 6u);
    ++rounds;
  }
  EXPECT_GT(rounds, 20);
}

}  // namespace
}  // namespace tenon::wire::test
