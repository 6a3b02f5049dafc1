// Peers of version 1.1, and what may be sent before the peer's version is known.
#include <gtest/gtest.h>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

const std::string no_names(6, '\0');

// As version 1.1 said it, or with other features.
std::string preface(std::uint64_t minor, std::uint64_t features, std::string later = "") {
  std::string fields;
  for (const std::uint64_t value : {std::uint64_t{1}, minor, features, std::uint64_t{4} << 20, std::uint64_t{64} << 10,
                                    std::uint64_t{128}, std::uint64_t{65536}, std::uint64_t{0}})
    fields += varint(value);
  return std::string(magic) + framed(fields + later);
}

struct OldServer : Methods {
  OldServer() {
    EXPECT_FALSE(client.feed(preface(1, 0)));
    client.drain();
  }
  Peer client{Side::client};
};
struct OldClient : Methods {
  OldClient() {
    EXPECT_FALSE(server.feed(preface(1, 0)));
    server.drain();
  }
  Peer server{Side::server};
};

TEST(OldPeer, GetsNoStreamsAndNoAttachments) {
  OldServer old;
  Frame asked = request(old.hello, 1, "");
  asked.stream = true;
  Frame with = request(old.hello, 1, "");
  with.attachment = attached("beside");
  for (Frame* frame : {&asked, &with}) {
    Result<void> refused = old.client.session.send(*frame);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), Errc::unimplemented);
    EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
    EXPECT_NE(refused.error().text().find("SayHello"), std::string::npos);
  }
  EXPECT_EQ(old.client.session.unwritten(), 0u);

  OldClient other;
  ASSERT_FALSE(other.server.feed(framed(bytes({1, 7, 0}) + no_names + bytes({0}))));
  Frame reply = response(7, "");
  reply.attachment = attached("beside");
  reply.target = &other.hello;
  Result<void> refused = other.server.session.send(reply);
  EXPECT_EQ(refused.error().code(), Errc::unimplemented);
  EXPECT_NE(refused.error().text().find("SayHello"), std::string::npos);
  reply.attachment = {};
  EXPECT_TRUE(other.server.session.send(reply).ok());
}

TEST(OldPeer, GetsLargeFramesWhole) {
  OldServer old;
  const std::string body(200'000, 'x');
  Frame sent = request(old.hello, 1, body);
  ASSERT_TRUE(old.client.session.send(sent).ok());
  const std::string out = old.client.drain();
  std::uint64_t length = 0;
  const char* at = out.data();
  ASSERT_EQ(get_varint(at, out.data() + out.size(), length), Scan::ok);
  EXPECT_EQ(length, out.size() - 3);
  EXPECT_EQ(*at, 1);
}

TEST(OldPeer, KeepsTheRulesOfItsVersion) {
  {
    OldClient old;  // asks for a stream: told that there are none, the connection goes on
    ASSERT_FALSE(old.server.feed(framed(bytes({0x41, 7, 0}) + no_names + bytes({0}))));
    EXPECT_TRUE(old.server.sink.seen.empty());
    EXPECT_GT(old.server.session.unwritten(), 0u);
    old.server.drain();
    ASSERT_FALSE(old.server.feed(framed(bytes({0x51, 7, 0}) + no_names + bytes({0}))));
    EXPECT_EQ(old.server.session.unwritten(), 0u);
    ASSERT_FALSE(old.server.feed(varint(100'000) + bytes({0x1B, 9}) + std::string(99'998, 'z'), 777));
    EXPECT_GT(old.server.session.unwritten(), 0u);
    ASSERT_FALSE(old.server.feed(framed(bytes({1, 9, 0}) + no_names + bytes({0}) + "on")));
    EXPECT_EQ(old.server.take().at(0).body, "on");
  }
  for (const std::string& fields : {bytes({0x81, 8, 0}) + no_names + bytes({0, 0}), bytes({10, 7, 1}),
                                    bytes({11, 7, 1}), bytes({8, 7}), bytes({9, 7})}) {
    OldClient old;
    EXPECT_EQ(old.server.feed(framed(fields)).code(), Errc::malformed);
  }
  for (const std::string& fields :
       {bytes({0x82, 1, 0}), bytes({0x42, 1}), bytes({8, 1}), bytes({9, 1}), bytes({11, 1, 1}), bytes({0x1B, 1, 1})}) {
    OldServer old;
    Frame sent = request(old.hello, 1, "");
    ASSERT_TRUE(old.client.session.send(sent).ok());
    EXPECT_EQ(old.client.feed(framed(fields)).code(), Errc::malformed);
  }
}

TEST(Version, TheFeatureCountsNotTheNumber) {
  for (const auto& [minor, features, speaks] :
       {std::tuple{1, 0, false}, std::tuple{2, 0, false}, std::tuple{9, 2, false}, std::tuple{2, 1, true},
        std::tuple{1, 1, true}, std::tuple{9, 3, true}}) {
    Methods methods;
    Peer client(Side::client);
    ASSERT_FALSE(client.feed(preface(minor, features)));
    Frame asked = request(methods.hello, 1, "");
    asked.stream = true;
    EXPECT_EQ(client.session.send(asked).ok(), speaks) << minor << " " << features;
  }
}

TEST(Version, StreamWindowOfThePreface) {
  const std::pair<std::string, std::int64_t> cases[] = {{"", 0},
                                                        {varint(0), 0},
                                                        {varint(1000), 1000},
                                                        {varint(1000) + "later fields", 1000},
                                                        {varint(std::uint64_t{1} << 31), max_initial_window},
                                                        {varint(~std::uint64_t{0}), max_initial_window}};
  for (const auto& [later, window] : cases) {
    Peer server(Side::server);
    ASSERT_FALSE(server.feed(preface(2, 1, later)));
    ASSERT_FALSE(server.feed(framed(bytes({0x41, 7, 0}) + no_names + bytes({0}))));
    EXPECT_TRUE(server.take().at(0).stream);
    EXPECT_EQ(server.session.credit(7), window);
  }
}

TEST(Version, StreamsAndAttachmentsMayGoBeforeThePeerIsKnown) {
  Methods methods;
  Peer client(Side::client);
  Peer server(Side::server);
  Frame asked = request(methods.hello, 1, "early");
  asked.stream = true;
  Frame with = request(methods.hello, 2, "early");
  with.attachment = attached(std::string(100'000, 'a'));
  const std::string body(100'000, 'b');
  Frame large = request(methods.hello, 3, body);
  for (Frame* frame : {&asked, &with, &large}) ASSERT_TRUE(client.session.send(*frame).ok());
  const std::string out = client.drain();
  EXPECT_EQ(out.size(), client.session.unwritten() + out.size());
  ASSERT_FALSE(server.feed(out));
  const auto got = server.take();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_TRUE(got[0].stream);
  EXPECT_EQ(got[1].attachment.size(), 100'000u);
  EXPECT_TRUE(got[2].body == body);  // in order: they left whole

  // An older server answers the stream request and the connection goes on.
  Peer early(Side::client);
  ASSERT_TRUE(early.session.send(asked).ok());
  early.drain();
  ASSERT_FALSE(early.feed(preface(1, 0) + framed(bytes({3, 1, 8, 0, 0, 0, 0, 0}))));
  EXPECT_EQ(early.take().at(0).kind, FrameKind::error);
  Frame next = request(methods.hello, 1, "");
  EXPECT_TRUE(early.session.send(next).ok());
}

}  // namespace
}  // namespace tenon::wire::test
