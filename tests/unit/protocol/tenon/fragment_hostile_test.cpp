// Parts no correct peer sends, parts cut in every way, and what they may cost.
#include <gtest/gtest.h>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

const std::string no_names(6, '\0');

std::string first(std::uint64_t call, std::uint64_t size, std::string_view start) {
  return framed(bytes({0x1B}) + varint(call) + varint(size) + std::string(start));
}
std::string later(std::uint64_t call, std::string_view rest) {
  return framed(bytes({0x0B}) + varint(call) + std::string(rest));
}
// A request's head; with `body` bytes behind it the frame has head + body.
std::string request_head(std::uint64_t call) { return bytes({1}) + varint(call) + bytes({0}) + no_names + bytes({0}); }

struct Server : Methods {
  explicit Server(const Limits& limits = {}) : peer(Side::server, limits) {
    Peer client(Side::client);
    EXPECT_FALSE(peer.feed(client.drain()));
    peer.drain();
  }
  Peer peer;
};
struct Client : Methods {
  explicit Client(const Limits& limits = {}) : peer(Side::client, limits) {
    Peer server(Side::server);
    EXPECT_FALSE(server.feed(peer.drain()));
    EXPECT_FALSE(peer.feed(server.drain()));
    for (std::uint32_t call : {1u, 2u}) {
      Frame sent = request(hello, call, "");
      sent.stream = call == 2;
      EXPECT_TRUE(peer.session.send(sent).ok());
    }
    peer.drain();
  }
  Peer peer;
};

TEST(Parts, AnySizesAreTaken) {
  const std::string head = request_head(5);
  const std::string body = "0123456789";
  for (std::size_t start = 0; start < body.size(); ++start) {
    for (std::size_t part = 1; part <= body.size(); ++part) {
      Server server;
      std::string sent = first(5, head.size() + body.size(), head + body.substr(0, start));
      for (std::size_t at = start; at < body.size(); at += part) sent += later(5, body.substr(at, part));
      ASSERT_FALSE(server.peer.feed(sent, 3));
      ASSERT_EQ(server.peer.sink.seen.size(), 1u);
      EXPECT_EQ(server.peer.sink.seen[0].body, body);
    }
  }
}

// Frames in parts with others between them, cut at every byte and in pieces of every size.
template <class Side>
std::vector<std::string> read(std::string_view sent, std::size_t at, std::size_t chunk) {
  Side side;
  EXPECT_FALSE(side.peer.feed(sent.substr(0, at), chunk)) << at;
  EXPECT_FALSE(side.peer.feed(sent.substr(at), chunk)) << at;
  return texts(side.peer.sink.seen);
}
TEST(Parts, CutAnywhere) {
  const std::string head = request_head(5);
  const std::string with =
      bytes({0xA1, 6, 1}) + bytes({1, 'g', 1, 'i', 1, 'v', 1, 'm', 1, 's', 0, 0, 1, 4, 1, 1, 'k', 0, 7});
  const std::string up = first(5, head.size() + 30, head + "0123456789") + first(6, with.size() + 9, with) +
                         later(5, "x") + framed(request_head(7) + "between") + later(6, "bo") + later(5, "yyyyy") +
                         framed(bytes({0x41, 8, 2, 0, 'q'})) + later(6, "attach") + first(9, 300, request_head(9)) +
                         later(6, "d") + framed(bytes({10, 8, 5})) + later(5, std::string(14, 'z')) +
                         framed(bytes({4, 9})) + framed(bytes({4, 7}));
  const auto server_saw = read<Server>(up, 0, up.size());
  ASSERT_EQ(server_saw.size(), 6u);
  EXPECT_NE(server_saw[2].find("body 2:bo attachment 7:attachd"), std::string::npos) << server_saw[2];
  EXPECT_NE(server_saw[4].find("body 30:0123456789xyyyyyzzzz"), std::string::npos) << server_saw[4];

  const std::string down = first(1, 60, bytes({0x12, 1, 4}) + "json" + bytes({0}) + "a") + framed(bytes({0x42, 2})) +
                           first(2, 20, bytes({0x88, 2, 10}) + "body") + later(1, std::string(40, 'b')) +
                           later(2, "123attachm") + later(2, "ent") + framed(bytes({8, 2}) + "next") +
                           later(1, std::string(11, 'c')) + framed(bytes({9, 2}));
  const auto client_saw = read<Client>(down, 0, down.size());
  ASSERT_EQ(client_saw.size(), 5u);
  EXPECT_NE(client_saw[1].find("body 7:body123 attachment 10:attachment"), std::string::npos) << client_saw[1];
  for (std::size_t at = 0; at <= std::max(up.size(), down.size()); ++at) {
    for (const std::size_t chunk : {at + 1, std::string::npos}) {
      ASSERT_EQ(read<Server>(up, std::min(at, up.size()), chunk), server_saw) << at;
      ASSERT_EQ(read<Client>(down, std::min(at, down.size()), chunk), client_saw) << at;
    }
  }
}

TEST(Parts, MalformedOnesEndTheConnection) {
  const std::string head = request_head(5);
  const std::size_t size = head.size() + 10;
  const std::string begun = first(5, size, head + "01");
  const std::string hostile[] = {
      later(5, "x"),                  // no first part
      begun + later(6, "x"),          // of another call
      begun + later(5, ""),           // nothing
      begun + later(5, "012345678"),  // beyond the size
      begun + begun,                  // a second first part
      begun + later(5, "01234567") + later(5, "x"),
      begun + framed(head),                    // the same call again
      first(5, head.size() + 2, head + "01"),  // whole
      first(5, head.size() + 1, head + "01"),  // more than announced
      first(5, 0, head),
      first(5, (1u << 30) + 1, head),
      first(5, ~std::uint64_t{0}, head),
      first(5, 100, head.substr(0, head.size() - 1)),                // the head is not whole
      first(5, 100, ""),                                             // no type
      first(6, size, head),                                          // another number inside
      first(5, 100, bytes({2, 5})),                                  // a response to a server
      first(5, 100, bytes({8, 5})),                                  // a message
      first(5, 100, bytes({4, 5})),                                  // a cancel
      first(5, 100, bytes({0x1B, 5, 50}) + head),                    // parts of parts
      first(5, 100, bytes({0x8F, 5})),                               // unknown kinds are not skipped here
      first(5, size, bytes({0x11}) + head.substr(1)),                // one-way
      first(5, size, bytes({0x81}) + head.substr(1) + bytes({11})),  // an attachment beyond the frame
      framed(bytes({0x2B, 5, 50}) + head),                           // flags a fragment does not have
      framed(bytes({0x1B})),
      framed(bytes({0x0B})),
      framed(bytes({0x1B, 5})),
  };
  int n = 0;
  for (const std::string& sent : hostile) {
    for (const std::size_t chunk : {std::size_t{1}, std::string::npos}) {
      Server server;
      const Error error = server.peer.feed(sent, chunk);
      EXPECT_EQ(error.code(), Errc::malformed) << n << " " << error.text();
      EXPECT_GT(server.peer.session.unwritten(), 10u) << n;
      EXPECT_LE(server.peer.sink.seen.size(), 1u) << n;
    }
    ++n;
  }
}

TEST(Parts, MalformedAnswersEndTheConnection) {
  const std::string begun = first(2, 100, bytes({8, 2}) + "m");
  const std::string head = framed(bytes({0x42, 2}));
  for (const std::string& sent : {
           first(1, 100, request_head(1)),                           // from a server
           first(9, 100, bytes({2, 9})),                             // never asked
           first(1, 100, bytes({8, 1})),                             // a message of a plain call
           begun,                                                    // before the head
           head + begun + framed(bytes({8, 2})),                     // inside another message
           head + begun + framed(bytes({9, 2})),                     // an end that is none
           first(1, 100, bytes({2, 1})) + framed(bytes({2, 1})),     // answered twice
           first(2, 100, bytes({0x42, 2})) + framed(bytes({8, 2})),  // a message inside the head
           framed(bytes({2, 1})) + first(1, 100, bytes({2, 1})),
       }) {
    Client client;
    EXPECT_EQ(client.peer.feed(sent).code(), Errc::malformed);
  }
  // A failure may come at any time and replaces what had come in part.
  Client client;
  const std::string failed = bytes({3, 2, 0, 0, 0, 0});
  ASSERT_FALSE(client.peer.feed(first(1, 100, bytes({2, 1})) + framed(bytes({3, 1}) + failed) + head + begun +
                                framed(bytes({0x19, 2}) + failed)));
  const auto got = client.peer.take();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].kind, FrameKind::error);
  EXPECT_EQ(got[2].kind, FrameKind::end);
  EXPECT_EQ(client.peer.feed(later(1, "x")).code(), Errc::malformed);
}

TEST(Parts, ResponseBeforeTheRequestHasLeft) {
  Pair pair;
  const std::string body(1u << 20, 'b');
  Frame sent = request(pair.hello, 1, body);
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  EXPECT_EQ(pair.client.feed(framed(bytes({2, 1}) + "ok")).code(), Errc::malformed);
  EXPECT_LT(pair.client.session.unwritten(), 20'000u);  // what waited is forgotten
}

TEST(Parts, RefusedRequestsArePassedOver) {
  const std::size_t limit = 100'000;
  for (const bool whole : {true, false}) {
    Server server({.max_frame = limit, .max_headers = 100, .max_concurrent = 1});
    const std::string large = request_head(5) + std::string(limit + 1, 'x');
    ASSERT_FALSE(server.peer.feed(first(5, large.size(), large.substr(0, 20'000)), 999));
    EXPECT_TRUE(server.peer.sink.seen.empty());
    const std::string answered = server.peer.drain();
    EXPECT_EQ(frames_of(answered).at(0).type, 3);
    if (whole) {
      ASSERT_FALSE(server.peer.feed(later(5, large.substr(20'000)), 999));
    } else {
      ASSERT_FALSE(server.peer.feed(framed(bytes({4, 5}))));  // the client stopped
    }
    EXPECT_EQ(server.peer.session.unwritten(), 0u);
    // Headers beyond the limits and more than max_concurrent at once, the same way.
    const std::string wide = bytes({0x21, 6, 0}) + no_names + bytes({0, 1}) + varint(150) + bytes({1, 1, 'k'}) +
                             varint(146) + std::string(146, 'v');
    ASSERT_FALSE(server.peer.feed(first(6, wide.size() + 50, wide + "abc") + framed(request_head(7) + "on")));
    EXPECT_EQ(server.peer.take().at(0).body, "on");
    ASSERT_FALSE(server.peer.feed(first(8, request_head(8).size() + 5, request_head(8)) + later(8, "12345") +
                                  later(6, std::string(47, 'z'))));
    EXPECT_TRUE(server.peer.sink.seen.empty());
    const std::string out = server.peer.drain();
    ASSERT_EQ(frames_of(out).size(), 2u);
    // The refused list was counted: this one is the second.
    ASSERT_FALSE(server.peer.feed(framed(bytes({0x31, 9, 0}) + no_names + bytes({0, 3, 4, 1, 1, 'k', 0}))));
    EXPECT_EQ(server.peer.take().at(0).headers.size(), 1u);
  }
}

// A refused client hears of it, stops, and the number is free for both.
TEST(Parts, ClientStopsWhenItIsRefused) {
  Pair pair({}, {.max_concurrent = 65536});
  const std::string body(1u << 20, 'b');
  Frame warm = request(pair.hello, 1, "");
  ASSERT_TRUE(pair.client.session.send(warm).ok());
  pair.client.drain();  // lost: the server does not know the names
  Frame sent = request(pair.hello, 2, body);
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  Gather gather;
  pair.client.session.produce(gather, 100'000);
  std::string out;
  for (const std::string_view part : gather.parts()) out += part;
  pair.client.session.written(out.size());
  ASSERT_FALSE(pair.server.feed(out));
  ASSERT_FALSE(pair.to_client());
  EXPECT_TRUE(pair.client.take().at(0).resend);
  const std::string rest = pair.client.drain();
  EXPECT_LT(rest.size(), 3 * refill_to);
  EXPECT_TRUE(frames_of(out + rest).back().is(Kind::cancel));
  ASSERT_FALSE(pair.server.feed(rest));
  EXPECT_TRUE(pair.server.sink.seen.empty());
  EXPECT_EQ(pair.server.session.unwritten(), 0u);                      // it has answered already
  EXPECT_EQ(pair.server.feed(later(2, "x")).code(), Errc::malformed);  // and expects no more of it
}

TEST(Parts, OversizeAnswersFailTheCallWhenAllHasCome) {
  const std::string large(1001, 'x');
  for (const bool ended_early : {false, true}) {
    Client client({.max_frame = 1000});
    ASSERT_FALSE(client.peer.feed(first(1, 1003, bytes({2, 1}) + large.substr(0, 500))));
    EXPECT_TRUE(client.peer.sink.seen.empty());
    EXPECT_EQ(client.peer.drain(), framed(bytes({4, 1})));  // the server is asked to stop
    Frame busy = request(client.hello, 1, "");
    EXPECT_FALSE(client.peer.session.send(busy).ok());
    ASSERT_FALSE(
        client.peer.feed(ended_early ? framed(bytes({3, 1, 2, 0, 0, 0, 0, 0})) : later(1, large.substr(500)), 7));
    const Seen got = client.peer.take().at(0);
    EXPECT_EQ(got.kind, FrameKind::error);
    EXPECT_EQ(got.error.code(), Errc::too_large);
    EXPECT_TRUE(client.peer.session.send(busy).ok());
  }
  // A message: the stream fails when the server has ended it.
  Client client({.max_frame = 1000});
  ASSERT_FALSE(client.peer.feed(framed(bytes({0x42, 2})) + first(2, 1003, bytes({8, 2}) + "m") +
                                later(2, large.substr(1)) + framed(bytes({8, 2}) + "more") + framed(bytes({9, 2}))));
  const auto got = client.peer.take();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[1].kind, FrameKind::end);
  EXPECT_EQ(got[1].error.code(), Errc::too_large);
}

// What core has not seen the head of is no stream to it.
TEST(Parts, StreamWhoseHeadNeverCameFailsWithAnError) {
  const std::string failed = framed(bytes({3, 2, 12, 2, 0, 0, 0, 0}));
  const std::string large(1001, 'x');
  for (const std::string& start : {first(2, 100, bytes({0x42, 2})),                     // in part
                                   first(2, 1003, bytes({0x42, 2})) + later(2, large),  // oversize in parts
                                   first(2, 1003, bytes({0x42, 2})), framed(bytes({0x42, 2}) + large)}) {
    Client client({.max_frame = 1000});
    ASSERT_FALSE(client.peer.feed(start + failed));
    const auto got = client.peer.take();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].kind, FrameKind::error);
  }
}

TEST(Parts, NotMoreAtOnceThanAllowed) {
  // The number of frames, refused ones included …
  for (const std::size_t size : {std::size_t{1000}, std::size_t{5} << 20}) {
    Server server;
    Error error;
    std::uint32_t begun = 0;
    while (!error && begun < 1000) {
      const std::string head = request_head(begun);
      error = server.peer.feed(first(begun, head.size() + size, head));
      begun += !error;
    }
    EXPECT_EQ(error.code(), Errc::malformed);
    EXPECT_EQ(begun, max_in_parts);
  }
  // … and their bytes.
  Server server;
  Error error;
  std::uint32_t begun = 0;
  while (!error && begun < 1000) {
    const std::string head = request_head(begun);
    error = server.peer.feed(first(begun, head.size() + (1u << 20), head));
    begun += !error;
  }
  EXPECT_EQ(begun, 16u);  // four times 4 MiB
  // What is complete or given up makes room.
  Server other;
  for (std::uint32_t call = 0; call < 500; ++call) {
    const std::string head = request_head(call);
    ASSERT_FALSE(other.peer.feed(first(call, head.size() + (4u << 20), head) + framed(bytes({4}) + varint(call))));
    ASSERT_FALSE(other.peer.feed(first(call, head.size() + 2, head) + later(call, "xy")));
  }
  EXPECT_EQ(other.peer.sink.seen.size(), 500u);
}

TEST(Parts, RoomGrowsWithWhatArrives) {
  Server server({.max_frame = 512u << 20});
  const std::string head = request_head(5);
  ASSERT_FALSE(server.peer.feed(first(5, head.size() + (512u << 20), head)));
  std::size_t arrived = 0;
  const std::string part(100'000, 'p');
  for (int n = 0; n < 20; ++n) {
    ASSERT_FALSE(server.peer.feed(varint(100'002) + bytes({0x0B, 5})));
    for (std::size_t left = part.size(); left > 0;) {
      const Want want = server.peer.session.want();
      const std::size_t taken = std::min<std::size_t>(left, 9000);
      if (want.into == nullptr) {
        EXPECT_LT(left, direct_part_from);
        ASSERT_FALSE(server.peer.feed(std::string_view(part).substr(0, left)));
        arrived += left;
        break;
      }
      ASSERT_GT(want.size, 0u);
      ASSERT_LE(want.size, std::min(left, std::max(arrived, std::size_t{128} << 10)));
      const std::size_t n2 = std::min(taken, want.size);
      std::memset(want.into, 'y', n2);
      ASSERT_TRUE(server.peer.session.received_direct(n2, server.peer.sink).ok());
      arrived += n2;
      left -= n2;
    }
  }
  EXPECT_EQ(arrived, 2'000'000u);
}

}  // namespace
}  // namespace tenon::wire::test
