// What is too large or too much: refused in time, at its cost alone.
#include <gtest/gtest.h>

#include "pair.hpp"
#include "tenon/memory.hpp"

namespace tenon::motan2::test {
namespace {

std::string errcode(const Wire& frame) {
  const std::string json = frame.pairs()["M_e"];
  return json.substr(0, json.find(','));
}

TEST(Limits, MetadataTooLargeForAServerIsAnsweredAndFatal) {
  Peer server(Side::server, {.max_headers = 100});
  Wire wire = wire_request(5);
  wire.metadata += "\nk\n" + std::string(100, 'v');
  const std::string bytes = wire.bytes();
  ASSERT_FALSE(server.feed(bytes.substr(0, 16)));
  const Error error = server.feed(bytes.substr(16, 1));
  ASSERT_TRUE(error) << "known with the length";
  EXPECT_EQ(error.code(), Errc::too_large);
  EXPECT_NE(error.text().find("limits.max_headers"), std::string::npos) << error.text();
  const std::vector<Wire> sent = Wire::all(server.drain());
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].id, 5u);
  EXPECT_EQ(sent[0].status, 1u);
  EXPECT_EQ(errcode(sent[0]), "{\"errcode\":10201");
  EXPECT_TRUE(server.feed(wire_request(6).bytes())) << "after a fatal error";
  Frame ping = plain(FrameKind::pong);
  EXPECT_FALSE(server.session.send(ping).ok());
}

TEST(Limits, MetadataTooLargeForAClientIsFatal) {
  Pair pair(Limits{.max_headers = 100});
  Frame frame = request(pair.hello, 1);
  ASSERT_TRUE(pair.client.session.send(frame).ok());
  Wire wire = wire_reply(Wire::all(pair.client.drain()).at(0).id);
  wire.metadata += "\nk\n" + std::string(100, 'v');
  const Error error = pair.client.feed(wire.bytes());
  EXPECT_EQ(error.code(), Errc::too_large);
  EXPECT_EQ(pair.client.session.unwritten(), 0u);
}

TEST(Limits, MetadataOfExactlyTheLimitAreRead) {
  Wire wire = wire_request(5);
  Peer server(Side::server, {.max_headers = wire.metadata.size()});
  ASSERT_FALSE(server.feed(wire.bytes()));
  EXPECT_EQ(server.take().size(), 1u);
}

TEST(Limits, BodyTooLargeForAServerIsAnsweredAndSkipped) {
  for (const std::size_t size : {1001u, 40'000u, 300'000u}) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}, std::string::npos}) {
      if (chunk == 1 && size > 40'000) continue;
      Peer server(Side::server, {.max_frame = 1000});
      const std::string stream = wire_request(1, std::string(1000, 'a')).bytes() +
                                 wire_request(2, std::string(size, 'b')).bytes() + wire_request(3, "c").bytes();
      const Error error = server.feed(stream, chunk);
      ASSERT_FALSE(error) << error.text();
      const std::vector<Seen> seen = server.take();
      ASSERT_EQ(seen.size(), 2u) << size << " in pieces of " << chunk;
      EXPECT_EQ(seen[0].body.size(), 1000u);
      EXPECT_EQ(seen[1].body, "c");
      EXPECT_LT(server.most_kept, 2000u);
      const std::vector<Wire> sent = Wire::all(server.drain());
      ASSERT_EQ(sent.size(), 1u);
      EXPECT_EQ(sent[0].id, 2u);
      EXPECT_EQ(errcode(sent[0]), "{\"errcode\":10201");
      EXPECT_NE(sent[0].metadata.find("limits.max_frame"), std::string::npos);
    }
  }
}

TEST(Limits, BodyTooLargeForAClientFailsThatCall) {
  for (const std::size_t chunk : {std::size_t{100}, std::string::npos}) {
    Pair pair(Limits{.max_frame = 1000});
    std::vector<std::uint64_t> ids;
    for (const std::uint32_t call : {0u, 1u}) {
      Frame frame = request(pair.hello, call);
      ASSERT_TRUE(pair.client.session.send(frame).ok());
      ids.push_back(Wire::all(pair.client.drain()).at(0).id);
    }
    ASSERT_FALSE(pair.client.feed(wire_reply(ids[0], std::string(5000, 'b')).bytes() +
                                      wire_reply(12345, std::string(5000, 'n')).bytes() + wire_reply(ids[1]).bytes(),
                                  chunk));
    const std::vector<Seen> seen = pair.client.take();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].kind, FrameKind::error);
    EXPECT_EQ(seen[0].call, 0u);
    EXPECT_EQ(seen[0].error.code(), Errc::too_large);
    EXPECT_EQ(seen[0].error.delivery(), Delivery::ran);
    EXPECT_EQ(seen[1].kind, FrameKind::response);
  }
}

TEST(Limits, HeartbeatsWithTooMuchBodyAreSkipped) {
  Peer server(Side::server, {.max_frame = 10});
  const Wire ping{.type = 0x10, .body = std::string(1000, 'b')};
  ASSERT_FALSE(server.feed(ping.bytes() + wire_request(1).bytes()));
  EXPECT_EQ(server.take().size(), 1u);
  EXPECT_EQ(server.session.unwritten(), 0u);
}

TEST(Limits, AttachmentsAreCounted) {
  Peer server(Side::server, {.max_header_count = 3});
  const auto with = [](std::uint64_t id, int count) {
    Wire wire = wire_request(id);
    for (int at = 0; at < count; ++at) wire.metadata += "\nk" + std::to_string(at) + "\nv";
    wire.metadata += "\nM_pp\nmotan2\nM_g\ng\nM_v\n1\nM_tmo\n5";  // no attachments
    return wire.bytes();
  };
  ASSERT_FALSE(server.feed(with(1, 3) + with(2, 4) + with(3, 0)));
  const std::vector<Seen> seen = server.take();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].headers.size(), 3u);
  const std::vector<Wire> sent = Wire::all(server.drain());
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].id, 2u);
  EXPECT_EQ(errcode(sent[0]), "{\"errcode\":10201");

  Pair pair(Limits{.max_header_count = 3});
  Frame frame = request(pair.hello, 1);
  ASSERT_TRUE(pair.client.session.send(frame).ok());
  Wire reply = wire_reply(Wire::all(pair.client.drain()).at(0).id);
  reply.metadata += "\na\n1\nb\n2\nc\n3\nd\n4";
  ASSERT_FALSE(pair.client.feed(reply.bytes()));
  const std::vector<Seen> failed = pair.client.take();
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].kind, FrameKind::error);
  EXPECT_EQ(failed[0].error.code(), Errc::too_large);
  EXPECT_EQ(failed[0].error.delivery(), Delivery::ran);
}

TEST(Limits, RequestsInFlightAreCounted) {
  Peer server(Side::server, {.max_concurrent = 2});
  EXPECT_EQ(server.session.max_concurrent(), 2u);
  ASSERT_FALSE(server.feed(wire_request(1).bytes() + wire_request(2).bytes() + wire_request(3).bytes()));
  const std::vector<Seen> seen = server.take();
  ASSERT_EQ(seen.size(), 2u);
  const std::vector<Wire> sent = Wire::all(server.drain());
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].id, 3u);
  EXPECT_EQ(errcode(sent[0]), "{\"errcode\":10002");
  Frame reply = response(seen[0].call);
  ASSERT_TRUE(server.session.send(reply).ok());
  ASSERT_FALSE(server.feed(wire_request(4).bytes()));
  EXPECT_EQ(server.take().size(), 1u);
}

TEST(Limits, LengthsThatLieCostNothing) {
  // Within the limit, so believed as far as a peer may be.
  const Limits generous{.max_frame = 0xFFFFFFFF, .max_headers = 0xFFFFFFFF};
  for (const Side side : {Side::server, Side::client}) {
    Methods methods;
    Peer body(side, generous);
    std::uint64_t id = 1;
    if (side == Side::client) {
      Frame frame = request(methods.hello, 0);
      ASSERT_TRUE(body.session.send(frame).ok());
      id = Wire::all(body.drain()).at(0).id;
    }
    const Wire wire = side == Side::server ? wire_request(id) : wire_reply(id);
    ASSERT_FALSE(body.feed(wire.head(0xFFFFFFFF) + std::string(100, 'x')));
    EXPECT_LE(body.session.want().size, 2u << 20);
    EXPECT_GT(body.session.want().size, 0u);
    EXPECT_TRUE(body.take().empty());

    Peer metadata(side, generous);
    std::string head = wire.bytes();
    head.replace(13, 4, "\xff\xff\xff\xff");
    ASSERT_FALSE(metadata.feed(head));
    EXPECT_EQ(metadata.session.want().into, nullptr);
    EXPECT_TRUE(metadata.take().empty());
  }
  // Beyond it: refused and skipped.
  Peer server(Side::server);
  ASSERT_FALSE(server.feed(wire_request(1).head(0xFFFFFFFF) + std::string(100, 'x')));
  EXPECT_EQ(server.session.want().into, nullptr);
  EXPECT_EQ(errcode(Wire::all(server.drain()).at(0)), "{\"errcode\":10201");
  Peer other(Side::server);
  std::string head = wire_request(1).bytes();
  head.replace(13, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(other.feed(head).code(), Errc::too_large);
}

TEST(Limits, OwnFramesKeepToThem) {
  Pair pair(Limits{.max_frame = 1000, .max_headers = 100, .max_header_count = 3},
            Limits{.max_frame = 1000, .max_headers = 300, .max_header_count = 3});
  Frame good = request(pair.hello, 0);
  ASSERT_TRUE(pair.client.session.send(good).ok());
  ASSERT_FALSE(pair.to_server());
  const std::string large(1001, 'b');
  for (const bool client : {true, false}) {
    Peer& peer = client ? pair.client : pair.server;
    const auto refuses = [&](auto change, std::string_view about) {
      Frame frame = client ? request(pair.hello, 1) : response(0);
      change(frame);
      const Result<void> done = peer.session.send(frame);
      ASSERT_FALSE(done.ok());
      EXPECT_EQ(done.error().code(), Errc::too_large);
      EXPECT_EQ(done.error().delivery(), Delivery::not_run);
      EXPECT_NE(done.error().text().find(about), std::string::npos) << done.error().text();
      EXPECT_EQ(peer.session.unwritten(), 0u);
    };
    refuses([&](Frame& frame) { frame.body = large; }, "limits.max_frame");
    refuses([&](Frame& frame) { frame.owned.append(large); }, "1001 bytes");
    refuses([&](Frame& frame) { frame.headers.set("k", large); }, "limits.max_headers");
    refuses(
        [&](Frame& frame) {
          for (const char* key : {"a", "b", "c", "d"}) frame.headers.set(key, "");
        },
        "limits.max_header_count");
  }
  Frame last = response(0);
  ASSERT_TRUE(pair.server.session.send(last).ok());
  ASSERT_FALSE(pair.to_client());
}

// An error that its reader cannot read would end the connection.
TEST(Limits, ErrorsKeepToThemByLeavingTheirHeadersOut) {
  const Limits limits{.max_headers = 40'000, .max_header_count = 4};
  const auto answer = [&](const Error& error) {
    Pair pair(limits, limits);
    Frame ask = request(pair.hello, 1);
    EXPECT_TRUE(pair.client.session.send(ask).ok());
    EXPECT_FALSE(pair.to_server());
    Frame frame = failure(pair.server.take().at(0).call, error);
    EXPECT_TRUE(pair.server.session.send(frame).ok());
    const Error fatal = pair.to_client();
    EXPECT_FALSE(fatal) << fatal.text();
    const std::vector<Seen> seen = pair.client.take();
    EXPECT_EQ(seen.size(), 1u);
    return seen.empty() ? Error() : seen[0].error;
  };
  const auto with = [](Headers headers) {
    Error error(Errc::application, "no", Delivery::ran, Advice::never);
    error.foreign("shop", 7).attach(std::move(headers));
    return error;
  };
  const Error small = answer(with({{"a", "1"}, {"bad\nname", "x"}, {"M_p", "x"}}));
  ASSERT_NE(small.headers(), nullptr);
  EXPECT_EQ(*small.headers(), (Headers{{"a", "1"}}));
  for (const Error& large :
       {with({{"a", std::string(40'000, 'v')}}), with({{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}, {"e", ""}})}) {
    const Error error = answer(large);
    EXPECT_EQ(error.headers(), nullptr);
    EXPECT_EQ(error.code(), Errc::application);
    EXPECT_EQ(error.domain(), "shop");
    EXPECT_EQ(error.foreign_code(), 7);
    EXPECT_EQ(error.text(), "no");
  }
  // Bytes that JSON writes with six characters each.
  const Error escaped = answer(Error(Errc::application, std::string(30'000, '\x01'), Delivery::ran, Advice::never));
  EXPECT_EQ(escaped.text().substr(0, 1000), std::string(1000, '\x01'));
  const Error wide = answer(Error(Errc::application, std::string(30'000, 'w'), Delivery::ran, Advice::never));
  EXPECT_EQ(wide.text(), std::string(16'384, 'w'));
}

}  // namespace
}  // namespace tenon::motan2::test
