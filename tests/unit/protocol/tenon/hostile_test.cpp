// Bytes no correct peer sends: every outcome is the one README.md states.
#include <gtest/gtest.h>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

struct Server : Methods {
  Server() {
    Peer client(Side::client);
    peer.feed(client.drain());
    peer.drain();
  }
  Peer peer{Side::server};
};
struct Client : Methods {
  Client() {
    Peer server(Side::server);
    server.feed(peer.drain());
    peer.feed(server.drain());
    for (std::uint32_t call : {1u, 2u}) {
      Frame sent = request(hello, call, "");
      EXPECT_TRUE(peer.session.send(sent).ok());
    }
    peer.drain();
  }
  Peer peer{Side::client};
};

const std::uint64_t hostile_numbers[] = {
    0,           1,           (4u << 20) - 1,         4u << 20,         (4u << 20) + 1, 0x7FFFFFFFu,
    0x80000000u, 0xFFFFFFFFu, std::uint64_t{1} << 63, ~std::uint64_t{0}};

const std::string no_names(6, '\0');

TEST(Lengths, FrameLengthIsRefusedAsSoonAsItIsRead) {
  for (const std::uint64_t length : hostile_numbers) {
    Server server;
    const Error error = server.peer.feed(varint(length));
    if (length == 0) {
      EXPECT_EQ(error.code(), Errc::malformed);
    } else if (length > max_length) {
      EXPECT_EQ(error.code(), Errc::too_large) << length;
    } else {
      EXPECT_FALSE(error) << length;
      EXPECT_EQ(server.peer.session.want().into, nullptr);
    }
  }
}

TEST(Lengths, VarintsThatAreTooLongOrNotShortestAreRefused) {
  for (const std::string& prefix : {bytes({0x80, 0x00}), bytes({0x81, 0x80, 0x00}), std::string(9, '\xff') + "\x02",
                                    std::string(10, '\x80') + "\x01", std::string(20, '\xff')}) {
    Server server;
    EXPECT_EQ(server.peer.feed(prefix).code(), Errc::malformed);
  }
  std::uint64_t value = 0;
  const std::string largest = varint(~std::uint64_t{0});
  EXPECT_EQ(largest.size(), 10u);
  const char* at = largest.data();
  EXPECT_EQ(get_varint(at, at + largest.size(), value), Scan::ok);
  EXPECT_EQ(value, ~std::uint64_t{0});
}

// Puts each hostile number where a request carries a length or an integer, in a frame of 60 and one of 200 000 bytes
// of which only 1000 arrive. Nothing may be allocated for it beyond what arrived, nothing may be misread.
TEST(Lengths, EveryFieldOfARequest) {
  for (const std::uint64_t number : hostile_numbers) {
    const std::string n = varint(number);
    const std::string heads[] = {
        bytes({1}) + n,                                                     // call
        bytes({1, 1}) + n,                                                  // names reference
        bytes({1, 1, 0}) + n,                                               // length of the first name
        bytes({1, 1, 0, 0, 0, 0, 0, 0}) + n,                                // length of the last name
        bytes({1, 1, 0}) + no_names + n,                                    // remaining time
        bytes({0x21, 1, 0}) + no_names + bytes({0}) + n,                    // header reference
        bytes({0x21, 1, 0}) + no_names + bytes({0, 0}) + n,                 // bytes of headers
        bytes({0x21, 1, 0}) + no_names + bytes({0, 0, 40}) + n,             // number of headers
        bytes({0x21, 1, 0}) + no_names + bytes({0, 0, 40, 1}) + n,          // length of a key
        bytes({0x21, 1, 0}) + no_names + bytes({0, 0, 40, 1, 1, 'k'}) + n,  // length of a value
    };
    int field = 0;
    for (const std::string& head : heads) {
      for (const std::size_t length : {std::size_t{60}, std::size_t{200'000}}) {
        Server server;
        const std::string frame = varint(length) + head + std::string(length, '\0');
        const Error error = server.peer.feed(std::string_view(frame).substr(0, 1000));
        if (error) {
          EXPECT_EQ(error.code(), Errc::malformed) << field << " " << number << " " << error.text();
          // The goodbye says why.
          EXPECT_GT(server.peer.session.unwritten(), 10u);
        }
        const Want want = server.peer.session.want();
        EXPECT_LE(want.size, 256u << 10);
        for (const Seen& seen : server.peer.sink.seen) EXPECT_LE(seen.body.size(), 60u);
      }
      ++field;
    }
  }
}

TEST(Lengths, EveryFieldOfAnErrorAndAGoaway) {
  for (const std::uint64_t number : hostile_numbers) {
    const std::string n = varint(number);
    for (const std::string& head : {bytes({3}) + n, bytes({3, 1, 3, 0}) + n, bytes({3, 1, 3, 0, 0}) + n,
                                    bytes({3, 1, 3, 0, 0, 0}) + n, bytes({3, 1, 3, 0, 0, 0, 0}) + n,
                                    bytes({0x23, 1, 3, 0, 0, 0, 0, 0}) + n, bytes({0x23, 1, 3, 0, 0, 0, 0, 0, 0}) + n,
                                    bytes({7}) + n, bytes({7, 0, 3, 0, 0}) + n, bytes({7, 0, 3, 0, 0, 0, 0}) + n}) {
      for (const std::string& tail : {std::string(), std::string(30, '\0')}) {
        Client client;
        const Error error = client.peer.feed(framed(head + tail));
        if (error) {
          EXPECT_EQ(error.code(), Errc::malformed) << error.text();
        } else {
          EXPECT_LE(client.peer.sink.seen.size(), 3u);
        }
      }
    }
  }
}

TEST(Lengths, ReadHeadClaimsBeyondTheFrame) {
  // A name that would reach past its frame into the next one.
  Server server;
  const std::string inner = bytes({1, 1, 0, 50});
  const Error error = server.peer.feed(framed(inner) + std::string(100, 'x'));
  EXPECT_EQ(error.code(), Errc::malformed);
}

TEST(Types, EveryTypeByteToAServer) {
  for (int type = 0; type < 256; ++type) {
    const int kind = type & 0x0F;
    const int flags = type & 0xF0;
    Server server;
    // call 5 (or the first byte of eight), then zeros: complete for any kind that is taken.
    std::string fields = bytes({type, 5});
    if (kind == 1 && flags & 0x20)
      fields += bytes({0}) + no_names + bytes({0, 0, 1, 0}) + (flags & 0x80 ? bytes({0}) : "");
    else if (kind == 1)
      fields += bytes({0}) + no_names + bytes({0}) + (flags & 0x80 ? bytes({0}) : "");
    else if (kind == 5 || kind == 6)
      fields += std::string(7, '\0');
    else if (kind == 7)
      fields += bytes({3, 0, 0, 0, 0, 0});
    else if (kind == 10)
      fields += bytes({9});
    Error error = server.peer.feed(framed(fields));
    const std::size_t answered = server.peer.session.unwritten();
    const std::size_t seen = server.peer.sink.seen.size();
    if (kind == 1 && (flags & 0x50) != 0x50) {  // a stream without an answer makes no sense
      EXPECT_FALSE(error) << type << error.text();
      EXPECT_EQ(seen, 1u) << type;
      EXPECT_EQ(answered, 0u) << type;
      EXPECT_EQ(server.peer.sink.seen[0].stream, (flags & 0x40) != 0);
    } else if ((kind >= 4 && kind <= 7) && flags == 0) {
      EXPECT_FALSE(error) << type << error.text();
      EXPECT_EQ(seen, kind == 4 ? 0u : 1u) << type;
    } else if (kind == 10 && flags == 0) {  // credit for a call that is over
      EXPECT_FALSE(error) << type;
      EXPECT_EQ(seen + answered, 0u);
    } else if ((kind == 0 || kind > 11) && flags & 0x80) {
      EXPECT_FALSE(error) << type;
      EXPECT_EQ(seen + answered, 0u);
    } else {
      ASSERT_TRUE(error) << type;
      EXPECT_EQ(error.code(), Errc::malformed);
      EXPECT_GT(answered, 10u) << type;  // goaway
      EXPECT_EQ(server.peer.feed("x").code(), Errc::unavailable);
      Frame late = plain(FrameKind::ping);
      EXPECT_FALSE(server.peer.session.send(late).ok());
    }
    if (!error) {  // the connection goes on
      ASSERT_FALSE(server.peer.feed(framed(bytes({1, 77, 0}) + no_names + bytes({0}) + "on")));
      EXPECT_EQ(server.peer.sink.seen.back().body, "on") << type;
    }
  }
}

TEST(Types, EveryTypeByteToAClient) {
  for (int type = 0; type < 256; ++type) {
    const int kind = type & 0x0F;
    const int flags = type & 0xF0;
    Client client;
    std::string fields = bytes({type, 1});
    if (kind == 2) fields += flags & 0x10 ? bytes({0, 0}) : "";
    if (kind == 2 && flags & 0x20) fields += bytes({0, 1, 0});
    if (kind == 2 && flags & 0x80) fields += bytes({0});
    if (kind == 3) fields += bytes({3, 0, 0, 0, 0, 0});
    if (kind == 3 && flags & 0x20) fields += bytes({0, 1, 0});
    if (kind == 5 || kind == 6) fields += std::string(7, '\0');
    if (kind == 7) fields = bytes({type, 2, 3, 0, 0, 0, 0, 0});
    const Error error = client.peer.feed(framed(fields));
    const bool taken = (kind == 2 && (flags & 0x40) == 0) || (kind == 3 && (flags & 0xC0) == 0) ||
                       ((kind >= 5 && kind <= 7) && flags == 0);
    const bool skipped = (kind == 0 || kind > 11) && flags & 0x80;
    EXPECT_EQ(!error, taken || skipped) << type << " " << error.text();
    EXPECT_EQ(client.peer.sink.seen.size(), taken ? 1u : 0u) << type;
    if (!error) {
      ASSERT_FALSE(client.peer.feed(framed(bytes({2, 2}) + "on"))) << type;
      EXPECT_EQ(client.peer.sink.seen.back().body, "on");
    }
  }
}

TEST(Types, IgnorableFrameMayBeLarge) {
  Server server;
  std::string frame = varint(5'000'000) + bytes({0x8F}) + std::string(4'999'999, 'z');
  ASSERT_FALSE(server.peer.feed(frame, 8191));
  ASSERT_FALSE(server.peer.feed(framed(bytes({1, 7, 0}) + no_names + bytes({0}) + "on")));
  EXPECT_EQ(server.peer.take().at(0).body, "on");
}

std::string preface(std::uint64_t major, std::uint64_t minor, std::uint64_t features, std::string later = "") {
  std::string fields;
  for (const std::uint64_t value :
       {major, minor, features, std::uint64_t{1000}, std::uint64_t{1000}, std::uint64_t{10}, std::uint64_t{10}})
    fields += varint(value);
  return std::string(magic) + framed(fields + later);
}

TEST(Versions, OtherMinorUnknownFeaturesAndLaterFieldsWork) {
  for (const std::string& start : {preface(1, 0, 0), preface(1, 7, 0), preface(1, 0, ~std::uint64_t{0}),
                                   preface(1, ~std::uint64_t{0}, 0x5555), preface(1, 1, 1, std::string(900, 'L'))}) {
    for (std::size_t cut = 0; cut <= start.size(); ++cut) {
      Peer server(Side::server);
      ASSERT_FALSE(server.feed(start.substr(0, cut)));
      ASSERT_FALSE(server.feed(start.substr(cut) + framed(bytes({1, 7, 0}) + no_names + bytes({0}) + "on")));
      ASSERT_EQ(server.sink.seen.size(), 1u);
      Peer client(Side::client);
      ASSERT_FALSE(client.feed(start));
      EXPECT_EQ(client.session.max_concurrent(), 10u);
    }
  }
}

TEST(Versions, OtherMajorIsRefusedWithTheReason) {
  for (const std::uint64_t major : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}}) {
    Peer server(Side::server);
    const Error error = server.feed(preface(major, 3, 0));
    ASSERT_EQ(error.code(), Errc::malformed);
    EXPECT_NE(error.text().find("version " + std::to_string(major)), std::string::npos) << error.text();
    // A client of version 1 can read what is said.
    Peer client(Side::client);
    ASSERT_FALSE(client.feed(server.drain()));
    ASSERT_EQ(client.sink.seen.size(), 1u);
    EXPECT_EQ(client.sink.seen[0].kind, FrameKind::goaway);
    EXPECT_EQ(client.sink.seen[0].error.text(), error.text());
    Peer other(Side::client);
    other.drain();
    EXPECT_EQ(other.feed(preface(major, 0, 0)).code(), Errc::malformed);
    EXPECT_GT(other.session.unwritten(), 0u);
  }
}

TEST(Versions, HostilePrefaces) {
  for (const std::uint64_t size : hostile_numbers) {
    Peer server(Side::server);
    const Error error = server.feed(std::string(magic) + varint(size) + std::string(100, '\x80'));
    EXPECT_EQ(error.code(), Errc::malformed) << size;
    EXPECT_EQ(server.session.want().into, nullptr);
  }
  for (const std::string_view start : {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02", "\xf1\xf1", "\x89TENON\n\n", ""}) {
    Peer server(Side::server);
    const Error error = server.feed(start);
    EXPECT_EQ(bool(error), !start.empty());
    EXPECT_EQ(server.session.unwritten(), 0u);  // a stranger is told nothing
    for (const char c : error.text()) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  }
}

TEST(Answers, TwiceOrNeverAskedEndTheConnection) {
  for (const std::string& wrong : {bytes({2, 9}), bytes({3, 9, 3, 0, 0, 0, 0, 0}), bytes({2, 1})}) {
    Client client;
    ASSERT_FALSE(client.peer.feed(framed(bytes({2, 1}))));
    EXPECT_EQ(client.peer.feed(framed(wrong)).code(), Errc::malformed);
  }
}

TEST(Answers, NumberInUseEndsTheConnection) {
  Server server;
  const std::string sent = framed(bytes({1, 7, 0}) + no_names + bytes({0}));
  ASSERT_FALSE(server.peer.feed(sent));
  EXPECT_EQ(server.peer.feed(sent).code(), Errc::malformed);
}

TEST(Answers, UnknownCodesStayVisible) {
  Client client;
  ASSERT_FALSE(client.peer.feed(framed(bytes({3, 1, 200, 0x0F, 0, 1, 'd', 5, 2, 'h', 'i'}))));
  const Seen got = client.peer.take().at(0);
  EXPECT_EQ(got.error.code(), Errc::internal);
  EXPECT_EQ(got.error.domain(), "tenon");
  EXPECT_EQ(got.error.foreign_code(), 200);
  EXPECT_EQ(got.error.delivery(), Delivery::maybe_run);
  EXPECT_EQ(got.error.advice(), Advice::never);
  Client second;
  EXPECT_EQ(second.peer.feed(framed(bytes({3, 1, 0, 0, 0, 0, 0, 0}))).code(), Errc::malformed);
}

TEST(HeaderList, DuplicateKeysAndTrailingBytesAreMalformed) {
  for (const std::string& list : {bytes({2, 1, 'k', 0, 1, 'k', 0}), bytes({1, 1, 'k', 0, 0}), bytes({2, 1, 'k', 0})}) {
    Server server;
    const Error error = server.peer.feed(framed(bytes({0x21, 1, 0}) + no_names + bytes({0, 0}) + framed(list)));
    EXPECT_EQ(error.code(), Errc::malformed);
  }
}

TEST(Sending, WhatTheProtocolCannotCarryIsRefused) {
  Client client;
  Server server;
  for (const FrameKind kind : {FrameKind::message, FrameKind::end, FrameKind::credit}) {
    Frame frame = plain(kind, 1);  // a call that asked for no stream
    EXPECT_EQ(client.peer.session.send(frame).error().code(), Errc::invalid_argument);
    EXPECT_EQ(server.peer.session.send(frame).error().code(), Errc::invalid_argument);
  }
  Frame no_target = plain(FrameKind::request);
  EXPECT_EQ(client.peer.session.send(no_target).error().code(), Errc::invalid_argument);
  Frame busy = request(client.hello, 1, "");
  EXPECT_EQ(client.peer.session.send(busy).error().code(), Errc::invalid_argument);
  Frame asked = request(client.hello, 1, "");
  EXPECT_EQ(server.peer.session.send(asked).error().code(), Errc::invalid_argument);
  for (const FrameKind kind : {FrameKind::response, FrameKind::error}) {
    Frame frame = plain(kind, 4);
    EXPECT_EQ(client.peer.session.send(frame).error().code(), Errc::invalid_argument);
    EXPECT_EQ(server.peer.session.send(frame).error().code(), Errc::invalid_argument);
  }
  EXPECT_EQ(client.peer.session.unwritten() + server.peer.session.unwritten(), 0u);
}

}  // namespace
}  // namespace tenon::wire::test
