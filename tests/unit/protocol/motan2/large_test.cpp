// Large bodies and heads, small budgets, many targets.
#include <gtest/gtest.h>

#include <chrono>
#include <deque>

#include "pair.hpp"

namespace tenon::motan2::test {
namespace {

std::string pattern(std::size_t size, unsigned seed) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size; ++at) bytes[at] = static_cast<char>(at * 31 + seed + at / 251);
  return bytes;
}

OutBuffer owned(std::string_view bytes) {
  OutBuffer buffer;
  buffer.append(bytes);
  return buffer;
}

TEST(Large, BodiesThereAndBackInPiecesOfAnySize) {
  for (const std::size_t size : {32'767u, 32'768u, 32'769u, 100'000u, 1'048'577u, 3'000'000u}) {
    for (const std::size_t chunk : {std::size_t{1000}, std::size_t{65'536}, std::string::npos}) {
      Pair pair;
      const std::string body = pattern(size, 1);
      Frame frame = request(pair.hello, 1, body);
      ASSERT_TRUE(pair.client.session.send(frame).ok());
      ASSERT_FALSE(pair.to_server(chunk));
      const std::vector<Seen> asked = pair.server.take();
      ASSERT_EQ(asked.size(), 1u);
      ASSERT_EQ(asked[0].body, body);
      EXPECT_LE(pair.server.most_kept, 33u << 10) << size << " in pieces of " << chunk;
      if (size > 100'000 && chunk != std::string::npos) {
        EXPECT_TRUE(asked[0].owned);
        EXPECT_GT(pair.server.direct, size - 2 * chunk) << "the body goes to its own buffer at once";
      }
      Frame reply = response(asked[0].call, body);
      ASSERT_TRUE(pair.server.session.send(reply).ok());
      ASSERT_FALSE(pair.to_client(chunk));
      const std::vector<Seen> answered = pair.client.take();
      ASSERT_EQ(answered.size(), 1u);
      EXPECT_EQ(answered[0].body, body);
    }
  }
}

TEST(Large, OwnedBodiesAreMoved) {
  Pair pair;
  const std::string body = pattern(100'000, 2);
  Frame frame = request(pair.hello, 1);
  frame.owned = owned(body);
  const char* const at = frame.owned.data();
  ASSERT_TRUE(pair.client.session.send(frame).ok());
  EXPECT_TRUE(frame.owned.empty());
  Gather gather;
  pair.client.session.produce(gather, 1u << 20);
  ASSERT_EQ(gather.parts().size(), 2u);
  EXPECT_EQ(gather.parts()[1].data(), at) << "not copied";
  ASSERT_FALSE(pair.to_server());
  Frame reply = response(pair.server.take().at(0).call);
  reply.owned = owned(body);
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  EXPECT_TRUE(reply.owned.empty());
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().at(0).body, body);
}

TEST(Large, ARefusedOwnedBodyStaysTheCallers) {
  Pair pair(Limits{.max_frame = 1000});
  Frame frame = request(pair.hello, 1);
  frame.owned = owned(std::string(50'000, 'x'));
  EXPECT_FALSE(pair.client.session.send(frame).ok());
  EXPECT_EQ(frame.owned.size(), 50'000u);
}

TEST(Large, SmallBudgetsKeepTheOrder) {
  for (const std::size_t budget : {std::size_t{1}, std::size_t{100}, std::size_t{40'000}, std::size_t{10'000'000}}) {
    Pair pair;
    std::vector<std::string> bodies;
    for (unsigned call = 0; call < 200; ++call) {
      const std::size_t size = call % 10 == 3 ? 50'000 + call : call % 10 == 7 ? 20'000 : call;
      bodies.push_back(pattern(size, call));
      Frame frame = request(pair.hello, call, bodies.back());
      if (call % 20 == 3) {
        frame.owned = owned(bodies.back());
        frame.body = {};
      }
      ASSERT_TRUE(pair.client.session.send(frame).ok());
    }
    const std::size_t waiting = pair.client.session.unwritten();
    const std::string bytes = drain(pair.client.session, budget);
    EXPECT_EQ(bytes.size(), waiting);
    ASSERT_FALSE(pair.server.feed(bytes, 30'000));
    const std::vector<Seen> seen = pair.server.take();
    ASSERT_EQ(seen.size(), bodies.size());
    for (std::size_t at = 0; at < seen.size(); ++at) ASSERT_EQ(seen[at].body, bodies[at]) << at;
  }
}

TEST(Large, PartlyWrittenOutputGoesOnWhereItWas) {
  Pair pair;
  std::string wire;
  std::vector<std::string> bodies;
  for (unsigned call = 0; call < 50; ++call) {
    bodies.push_back(pattern(call % 5 ? 300 : 40'000, call));
    Frame frame = request(pair.hello, call, bodies.back());
    ASSERT_TRUE(pair.client.session.send(frame).ok());
    Gather gather;
    pair.client.session.produce(gather, 5000);
    std::string some;
    for (const std::string_view part : gather.parts()) some += part;
    some.resize(std::min<std::size_t>(some.size(), 777));
    pair.client.session.written(some.size());
    wire += some;
  }
  wire += pair.client.drain();
  ASSERT_FALSE(pair.server.feed(wire));
  const std::vector<Seen> seen = pair.server.take();
  ASSERT_EQ(seen.size(), bodies.size());
  for (std::size_t at = 0; at < seen.size(); ++at) EXPECT_EQ(seen[at].body, bodies[at]);
}

TEST(Large, MetadataOf600KiB) {
  const Limits limits{.max_frame = 2u << 20, .max_headers = 1u << 20};
  for (const std::size_t body_size : {0u, 10u, 32'769u, 1'500'000u}) {
    for (const std::size_t chunk : {std::size_t{997}, std::size_t{65'536}, std::string::npos}) {
      Pair pair(limits, limits);
      const std::string body = pattern(body_size, 3);
      Headers headers;
      for (int at = 0; at < 6; ++at) headers.set("key" + std::to_string(at), std::string(100 << 10, char('a' + at)));
      Frame frame = request(pair.hello, 1, body);
      frame.headers = headers;
      ASSERT_TRUE(pair.client.session.send(frame).ok());
      Frame small = request(pair.hello, 2, "next");
      ASSERT_TRUE(pair.client.session.send(small).ok());
      const Error error = pair.to_server(chunk);
      ASSERT_FALSE(error) << error.text();
      const std::vector<Seen> asked = pair.server.take();
      ASSERT_EQ(asked.size(), 2u) << body_size << " in pieces of " << chunk;
      EXPECT_EQ(asked[0].headers, headers);
      EXPECT_EQ(asked[0].method, "hello");
      EXPECT_EQ(asked[0].body, body);
      EXPECT_EQ(asked[1].body, "next");
      // Without pieces there is nothing to keep: the whole frame is in the caller's buffer.
      EXPECT_LE(pair.server.most_kept, 33u << 10);

      Frame reply = response(asked[0].call, body);
      reply.headers = headers;
      ASSERT_TRUE(pair.server.session.send(reply).ok());
      ASSERT_FALSE(pair.to_client(chunk));
      const std::vector<Seen> answered = pair.client.take();
      ASSERT_EQ(answered.size(), 1u);
      EXPECT_EQ(answered[0].headers, headers);
      EXPECT_EQ(answered[0].body, body);
    }
  }
}

TEST(Large, BodiesBeyondTheLimitBehindLargeMetadata) {
  Peer server(Side::server, {.max_frame = 1000, .max_headers = 1u << 20});
  Wire wire = wire_request(1, std::string(5000, 'b'));
  wire.metadata += "\nk\n" + std::string(100'000, 'v');
  for (const std::size_t chunk : {std::size_t{997}, std::string::npos}) {
    ASSERT_FALSE(server.feed(wire.bytes() + wire_request(2).bytes(), chunk));
    EXPECT_EQ(server.take().size(), 1u);
    EXPECT_EQ(Wire::all(server.drain()).size(), 1u);
  }
}

TEST(Large, TwoThousandTargets) {
  std::deque<std::string> names;
  std::deque<ServiceName> services;
  std::deque<Method> methods;
  std::deque<Target> targets;
  for (int at = 0; at < 2000; ++at) {
    names.push_back("m" + std::to_string(at));
    services.push_back({"svc" + std::to_string(at / 7), at % 2 ? "g" : "", at % 3 ? "2" : ""});
    methods.push_back({.name = names.back()});
    targets.push_back({.service = &services.back(), .method = &methods.back()});
  }
  Pair pair;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t at = 0; at < targets.size(); ++at) {
      Frame frame = request(targets[at], 1);
      ASSERT_TRUE(pair.client.session.send(frame).ok());
      ASSERT_FALSE(pair.to_server());
      const std::vector<Seen> seen = pair.server.take();
      ASSERT_EQ(seen.size(), 1u);
      ASSERT_EQ(seen[0].method, names[at]);
      ASSERT_EQ(seen[0].interface, services[at].interface);
      ASSERT_EQ(seen[0].group, services[at].group);
      ASSERT_EQ(seen[0].version, services[at].version);
      Frame reply = response(seen[0].call);
      ASSERT_TRUE(pair.server.session.send(reply).ok());
      ASSERT_FALSE(pair.to_client());
      ASSERT_EQ(pair.client.take().size(), 1u);
    }
  }
}

TEST(Large, NamesWithANewlineAreRefusedEachTime) {
  const std::string bad = "two\nlines";
  for (int which = 0; which < 4; ++which) {
    const ServiceName service{which == 0 ? bad : "svc", which == 1 ? bad : "g", which == 2 ? bad : "1"};
    const Method method{.name = which == 3 ? std::string_view(bad) : "m"};
    const Target target{.service = &service, .method = &method};
    Peer client(Side::client);
    for (int round = 0; round < 2; ++round) {
      Frame frame = request(target, 1);
      const Result<void> done = client.session.send(frame);
      ASSERT_FALSE(done.ok());
      EXPECT_EQ(done.error().code(), Errc::invalid_argument);
      EXPECT_EQ(client.session.unwritten(), 0u);
    }
  }
}

// A peer that sends large frames byte by byte must not make every byte cost a frame.
TEST(Large, ByteByByteIsLinear) {
  const auto begin = std::chrono::steady_clock::now();
  Peer server(Side::server);
  Wire wire = wire_request(1, std::string(32'000, 'b'));
  wire.metadata += "\nk\n" + std::string(30'000, 'v');
  const std::string bytes = wire.bytes();
  std::size_t begin_of_rest = 0;
  // The rest is presented in place: only the session's own work counts.
  for (std::size_t end = 1; end <= bytes.size(); ++end) {
    const std::string_view shown = std::string_view(bytes).substr(begin_of_rest, end - begin_of_rest);
    const Result<std::size_t> taken = server.session.received(shown, server.sink);
    ASSERT_TRUE(taken.ok());
    begin_of_rest += *taken;
  }
  EXPECT_EQ(server.take().size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

}  // namespace
}  // namespace tenon::motan2::test
