// Bytes that are no frames of ours, and frames at the edge of what is one.
#include <gtest/gtest.h>

#include <random>

#include "samples.hpp"

namespace tenon::motan2::test {
namespace {

Error fatal(Side side, std::string_view bytes, std::size_t chunk = std::string_view::npos) {
  Peer peer(side);
  const Error error = peer.feed(bytes, chunk);
  EXPECT_TRUE(peer.sink.seen.empty());
  EXPECT_EQ(peer.session.unwritten(), 0u);
  if (error) {
    EXPECT_EQ(error.code(), Errc::malformed);
    EXPECT_TRUE(error.text().starts_with("protocol motan2: ")) << error.text();
    EXPECT_TRUE(peer.feed("\xf1\xf1")) << "nothing is read after that";
  }
  return error;
}

TEST(Hostile, VersionZeroIsToldAfterFourBytes) {
  std::string bytes = Wire{.version = 0}.bytes();
  for (const std::size_t size : {std::size_t{4}, std::size_t{10}, bytes.size()}) {
    const Error error = fatal(Side::server, bytes.substr(0, size));
    ASSERT_TRUE(error) << size;
    EXPECT_NE(error.text().find("version 1 of Motan's protocol (\"motan\")"), std::string::npos) << error.text();
    EXPECT_NE(error.text().find("set protocol=\"motan2\" at the peer"), std::string::npos) << error.text();
  }
  EXPECT_FALSE(fatal(Side::server, bytes.substr(0, 3)));
  EXPECT_TRUE(fatal(Side::server, bytes, 1));
  // What a motan1 peer sends: magic, type and flag, id, length.
  EXPECT_TRUE(fatal(Side::server, std::string("\xf1\xf1\x00\x00\x1a\x22\xa6\x2c", 8)));
}

TEST(Hostile, OtherVersions) {
  for (unsigned version = 2; version < 32; ++version)
    for (const Side side : {Side::server, Side::client}) {
      const Wire wire{.type = side == Side::client, .version = version};
      const Error error = fatal(side, wire.bytes().substr(0, 4));
      ASSERT_TRUE(error);
      EXPECT_NE(error.text().find("version " + std::to_string(version)), std::string::npos) << error.text();
      EXPECT_TRUE(fatal(side, wire.bytes()));
    }
}

TEST(Hostile, OtherMagic) {
  for (const Side side : {Side::server, Side::client}) {
    EXPECT_TRUE(fatal(side, "GET / HTTP/1.1\r\n"));
    EXPECT_TRUE(fatal(side, "\xf1\xf2"));
    EXPECT_TRUE(fatal(side, "\xf2"));
    EXPECT_FALSE(fatal(side, "\xf1"));
    EXPECT_NE(fatal(side, "\xf1\xf0 abc").text().find("f1 f0 20 61 62 63"), std::string::npos);
  }
  // In the middle of a connection, too.
  Peer server(Side::server);
  EXPECT_TRUE(server.feed(wire_request(1).bytes() + "garbage"));
  EXPECT_EQ(server.sink.seen.size(), 1u);
}

TEST(Hostile, TheWrongDirection) {
  EXPECT_NE(fatal(Side::server, wire_reply(1).bytes()).text().find("client sent a response"), std::string::npos);
  EXPECT_NE(fatal(Side::client, wire_request(1).bytes()).text().find("server sent a request"), std::string::npos);
  EXPECT_TRUE(fatal(Side::server, Wire{.type = 0x11}.bytes()));
  EXPECT_TRUE(fatal(Side::client, Wire{.type = 0x10}.bytes()));
}

TEST(Hostile, BytesNobodyAskedFor) {
  Peer server(Side::server);
  EXPECT_FALSE(server.session.received_direct(1, server.sink).ok());
  Peer other(Side::server);
  ASSERT_FALSE(other.feed(wire_request(1).head(100'000)));
  ASSERT_NE(other.session.want().into, nullptr);
  EXPECT_FALSE(other.session.received_direct(100'001, other.sink).ok());
}

/// A frame of the tables of odd frames that were sent to both Motan servers, and what this server makes of it.
struct Odd {
  const char* name;
  Wire wire;
  std::string path = "demo.Greeter", method = "hello", group = "", serializer = "simple", compressor = "";
  Headers headers = {};
};

TEST(OddFrames, Requests) {
  const auto with = [](std::string metadata) { return Wire{.metadata = std::move(metadata), .body = "x"}; };
  const std::string names = "M_p\ndemo.Greeter\nM_m\nhello";
  const std::vector<Odd> rows{
      {.name = "minimal metadata", .wire = with(names)},
      {.name = "one-way", .wire = {.type = 4, .metadata = names, .body = "x"}},
      {.name = "proxy", .wire = {.type = 2, .metadata = names, .body = "x"}},
      {.name = "unknown bits", .wire = {.type = 0xE0, .metadata = names, .body = "x"}},
      {.name = "status in a request", .wire = {.status = 7, .metadata = names, .body = "x"}},
      {.name = "unpaired key", .wire = with(names + "\nodd")},
      {.name = "only an unpaired key", .wire = with("odd"), .path = "", .method = ""},
      {.name = "empty value in the middle", .wire = with("k1\n\n" + names), .headers = {{"k1", ""}}},
      {.name = "trailing newline", .wire = with(names + "\n")},
      {.name = "empty value at the end", .wire = with(names + "\nk\n"), .headers = {{"k", ""}}},
      {.name = "empty key", .wire = with("\nv\n" + names)},
      {.name = "only newlines", .wire = with("\n\n\n\n"), .path = "", .method = ""},
      {.name = "duplicate keys", .wire = with("M_m\nbye\nk\n1\n" + names + "\nk\n2"), .headers = {{"k", "2"}}},
      {.name = "serializer 3", .wire = {.serializer = 3, .metadata = names, .body = "x"}, .serializer = "serializer 3"},
      {.name = "serializer 31",
       .wire = {.serializer = 31, .metadata = names, .body = "x"},
       .serializer = "serializer 31"},
      {.name = "hessian2", .wire = {.serializer = 0, .metadata = names, .body = "x"}, .serializer = "hessian2"},
      {.name = "gzip bit", .wire = {.type = 8, .metadata = names, .body = "x"}, .compressor = "gzip"},
      {.name = "empty body", .wire = {.metadata = names}},
      {.name = "no path", .wire = with("M_m\nhello"), .path = ""},
      {.name = "no metadata", .wire = with(""), .path = "", .method = ""},
      {.name = "framework", .wire = with(names + "\nM_fws\ny"), .headers = {{"M_fws", "y"}}},
      {.name = "capital", .wire = with("M_p\ndemo.Greeter\nM_m\nHello"), .method = "Hello"},
      {.name = "another group", .wire = with(names + "\nM_g\nother"), .group = "other"},
      {.name = "Java's group", .wire = with(names + "\ngroup\njava"), .group = "java", .headers = {{"group", "java"}}},
      {.name = "both groups",
       .wire = with(names + "\nM_g\nmine\ngroup\njava"),
       .group = "mine",
       .headers = {{"group", "java"}}},
      {.name = "keys of a reply", .wire = with(names + "\nM_pt\n1\nM_e\n{}\ntenon.error\nx")},
      {.name = "carriage returns", .wire = with(names + "\nk\nv\r"), .headers = {{"k", "v\r"}}},
      {.name = "zeros",
       .wire = with(names + std::string("\nk\0\nv\0", 6)),
       .headers = {{std::string("k\0", 2), std::string("v\0", 2)}}},
  };
  Peer server(Side::server);
  for (const Odd& row : rows) {
    const Error error = server.feed(row.wire.bytes());
    ASSERT_FALSE(error) << row.name << ": " << error.text();
    const std::vector<Seen> seen = server.take();
    ASSERT_EQ(seen.size(), 1u) << row.name;
    EXPECT_EQ(seen[0].kind, FrameKind::request) << row.name;
    EXPECT_EQ(seen[0].interface, row.path) << row.name;
    EXPECT_EQ(seen[0].method, row.method) << row.name;
    EXPECT_EQ(seen[0].group, row.group) << row.name;
    EXPECT_EQ(seen[0].serializer, row.serializer) << row.name;
    EXPECT_EQ(seen[0].compressor, row.compressor) << row.name;
    EXPECT_EQ(seen[0].headers, row.headers) << row.name;
    EXPECT_EQ(seen[0].body, row.wire.body) << row.name;
  }
}

// Nothing that can be sent to a session makes it misbehave; the sanitizers watch.
TEST(Hostile, ChangedSamples) {
  std::mt19937 random(20240607);  // NOLINT: the same run every time
  std::size_t read = 0;
  std::size_t refused = 0;
  for (const Sample& sample : samples()) {
    for (int round = 0; round < 300; ++round) {
      std::string bytes = sample.bytes + sample.bytes;
      for (int changes = 1 + round % 4; changes > 0; --changes) {
        const std::size_t at = random() % bytes.size();
        switch (random() % 3) {
          case 0: bytes[at] = static_cast<char>(random()); break;
          case 1: bytes.erase(at, random() % 8); break;
          default: bytes.insert(at, bytes, random() % bytes.size(), random() % 20); break;
        }
      }
      Methods methods;
      Peer peer(sample.is_request ? Side::server : Side::client, {.max_frame = 5000, .max_headers = 500});
      if (!sample.is_request) {
        Frame ask = request(methods.hello, 0);
        ASSERT_TRUE(peer.session.send(ask).ok());
        const std::string id = peer.drain().substr(5, 8);
        if (bytes.size() > 13) bytes.replace(5, 8, id);
      }
      if (const Error error = peer.feed(bytes, 1 + random() % 64))
        ++refused;
      else
        ++read;
      EXPECT_LE(peer.sink.seen.size(), 4u);
      EXPECT_LE(peer.drain().size(), 8000u);
    }
  }
  EXPECT_GT(read, 1000u);
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace tenon::motan2::test
