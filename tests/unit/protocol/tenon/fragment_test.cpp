// Large frames leave in parts: what goes between them, in which order, and what a cancel does to them.
#include <gtest/gtest.h>

#include <map>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

std::string pattern(std::size_t size, std::size_t first = 0) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(first + i * 31 + i / 251);
  return text;
}

/// Writes up to n bytes of what the session has, as a socket that is nearly full takes them.
std::string write_some(Session& session, std::size_t n) {
  std::string all;
  while (all.size() < n && session.unwritten() > 0) {
    Gather gather;
    session.produce(gather, n - all.size());
    if (gather.bytes() == 0) {
      ADD_FAILURE() << "nothing to write although " << session.unwritten() << " bytes wait";
      break;
    }
    for (const std::string_view part : gather.parts()) all += part;
    session.written(gather.bytes());
  }
  return all;
}

void ask(Pair& pair, std::initializer_list<std::uint32_t> calls, bool stream = false) {
  for (const std::uint32_t call : calls) {
    Frame asked = request(pair.hello, call, "");
    asked.stream = stream;
    ASSERT_TRUE(pair.client.session.send(asked).ok());
  }
  ASSERT_FALSE(pair.to_server());
  pair.server.take();
}
void reply(Pair& pair, std::uint32_t call, std::string_view body) {
  Frame answer = response(call, body);
  ASSERT_TRUE(pair.server.session.send(answer).ok());
}

TEST(Fragment, SmallCallPassesALargeResponse) {
  Pair pair({.max_frame = 16u << 20}, {.max_frame = 16u << 20});
  ask(pair, {1, 2});
  const std::string large = pattern(10u << 20);
  reply(pair, 1, large);
  EXPECT_GT(pair.server.session.unwritten(), large.size());
  std::string out = write_some(pair.server.session, 1u << 20);
  reply(pair, 2, "small");
  const std::string rest = pair.server.drain();
  out += rest;
  std::size_t before = 0;  // bytes of the large one in front of the small one, from the moment it was sent
  for (const WireFrame& frame : frames_of(out)) {
    if (frame.is(Kind::response)) break;
    before += frame.all.size();
  }
  EXPECT_LE(before, (1u << 20) + refill_to + later_part + 100);
  ASSERT_FALSE(pair.client.feed(out, 65536));
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].body, "small");
  EXPECT_TRUE(got[1].body == large && got[1].owned);
  EXPECT_EQ(pair.server.session.unwritten(), 0u);
  // The number is free.
  ask(pair, {1});
}

TEST(Fragment, LargeFramesTakeTurns) {
  Pair pair;
  ask(pair, {1, 2, 3});
  const std::string bodies[] = {pattern(300'000, 1), pattern(300'000, 2), pattern(300'000, 3)};
  for (std::uint32_t call : {1u, 2u, 3u}) reply(pair, call, bodies[call - 1]);
  const std::string out = pair.server.drain();
  std::string order;
  for (const WireFrame& frame : frames_of(out)) {
    EXPECT_TRUE(frame.is(Kind::fragment));
    EXPECT_EQ(frame.first_part(), order.size() < 3);
    order += static_cast<char>('0' + frame.call);
  }
  EXPECT_EQ(order, "123123123123123123");
  ASSERT_FALSE(pair.client.feed(out, 1000));
  for (const Seen& seen : pair.client.take()) EXPECT_TRUE(seen.body == bodies[seen.call - 1]);
}

TEST(Fragment, OnlyFromItsSizeOn) {
  Pair pair;
  ask(pair, {1, 2, 3});
  const std::string below = pattern(parts_from - 1);
  const std::string from = pattern(parts_from);
  reply(pair, 1, below);
  reply(pair, 2, from);
  Frame split = response(3, below);
  split.attachment = attached("x");
  ASSERT_TRUE(pair.server.session.send(split).ok());
  const std::string out = pair.server.drain();
  const auto frames = frames_of(out);
  EXPECT_TRUE(frames.at(0).is(Kind::response));
  EXPECT_TRUE(frames.at(1).first_part());
  EXPECT_TRUE(frames.at(2).first_part());
  ASSERT_FALSE(pair.client.feed(out));
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 3u);
  for (const Seen& seen : got) EXPECT_TRUE(seen.body == (seen.call == 2 ? from : below));
}

TEST(Fragment, BodyLeavesFromWhereItIs) {
  Pair pair;
  ask(pair, {1});
  Frame answer = response(1, "");
  answer.owned.append(pattern(1u << 20));
  const char* const where = answer.owned.data();
  ASSERT_TRUE(pair.server.session.send(answer).ok());
  EXPECT_TRUE(answer.owned.empty());
  std::size_t in_place = 0;
  while (pair.server.session.unwritten() > 0) {
    Gather gather;
    pair.server.session.produce(gather, 1u << 20);
    for (const std::string_view part : gather.parts())
      if (part.data() >= where && part.data() < where + (1u << 20)) in_place += part.size();
    pair.server.session.written(gather.bytes());
  }
  EXPECT_EQ(in_place, (1u << 20) - first_part);
}

TEST(Fragment, OneCallKeepsItsOrder) {
  Pair pair({.stream_window = 10u << 20});
  ask(pair, {1, 2}, true);
  const std::string large = pattern(200'000);
  Frame first = head(1);
  first.body = large;
  first.headers = Headers{{"h", "1"}};
  Frame one = message(1, "one");
  Frame two = message(1, large);
  Frame three = message(1, "three");
  three.attachment = attached("beside");
  Frame last = end(1);
  last.headers = Headers{{"t", "2"}};
  Frame other = head(2);
  Frame others = message(2, "other");
  for (Frame* frame : {&first, &one, &two, &three, &last, &other, &others})
    ASSERT_TRUE(pair.server.session.send(*frame).ok());
  Frame late = message(1, "late");
  EXPECT_EQ(pair.server.session.send(late).error().code(), Errc::invalid_argument);
  ASSERT_FALSE(pair.to_client(5000));
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 7u);
  EXPECT_EQ(got[0].call, 2u);  // passed
  EXPECT_EQ(got[1].body, "other");
  EXPECT_TRUE(got[2].stream && got[2].body == large && *got[2].headers.find("h") == "1");
  EXPECT_EQ(got[3].body, "one");
  EXPECT_TRUE(got[4].body == large && got[4].kind == FrameKind::message);
  EXPECT_EQ(got[5].body + got[5].attachment, "threebeside");
  EXPECT_EQ(got[6].kind, FrameKind::end);
  EXPECT_EQ(*got[6].headers.find("t"), "2");
  EXPECT_EQ(pair.server.session.unwritten(), 0u);
  ask(pair, {1});
}

TEST(Fragment, RequestsDefineNamesAndHeadersAtOnce) {
  Pair pair;
  const std::string large = pattern(200'000);
  Frame first = request(pair.hello, 1, large);
  first.headers = Headers{{"k", "v"}};
  Frame second = request(pair.hello, 2, "small");
  second.headers = Headers{{"k", "v"}};
  for (Frame* frame : {&first, &second}) ASSERT_TRUE(pair.client.session.send(*frame).ok());
  const std::string out = pair.client.drain();
  EXPECT_EQ(frames_of(out).at(1).all.size(), 12u);  // all by reference
  ASSERT_FALSE(pair.server.feed(out, 3000));
  const auto got = pair.server.take();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].body, "small");
  EXPECT_TRUE(got[1].body == large);
  for (const Seen& seen : got) {
    EXPECT_EQ(seen.token, 1u);
    EXPECT_EQ(*seen.headers.find("k"), "v");
  }
}

// What the receiver is bound to put up with: 64 at once, together four times its largest frame.
TEST(Fragment, OthersWaitUntilThereIsRoom) {
  for (const std::size_t size : {std::size_t{70'000}, std::size_t{700'000}}) {
    const Limits limits{.max_frame = size == 70'000 ? std::size_t{4} << 20 : std::size_t{1} << 20};
    const std::size_t room = size == 70'000 ? max_in_parts : 5;
    Pair pair(limits, limits);
    const std::string body = pattern(size);
    for (std::uint32_t call = 0; call < 100; ++call) {
      // Each waiting one names its own method and headers: what has not left defines nothing.
      Frame sent = request(call % 2 ? pair.hello : pair.goodbye, call, body);
      sent.headers = Headers{{"n", std::to_string(call)}};
      ASSERT_TRUE(pair.client.session.send(sent).ok());
    }
    Frame small = request(pair.hello, 200, "small");
    ASSERT_TRUE(pair.client.session.send(small).ok());
    const std::string out = pair.client.drain();
    std::map<std::uint64_t, std::size_t> open;
    std::size_t most = 0;
    std::size_t position = 0;
    std::size_t small_at = 0;
    for (const WireFrame& frame : frames_of(out)) {
      if (frame.first_part()) {
        open[frame.call] = 0;
        most = std::max(most, open.size());
      }
      if (frame.is(Kind::request)) {
        small_at = position;
      } else {
        open[frame.call] += frame.all.size();
        if (open[frame.call] > size) open.erase(frame.call);
      }
      ++position;
    }
    EXPECT_EQ(most, room);
    EXPECT_LE(small_at, max_in_parts);
    ASSERT_FALSE(pair.server.feed(out, 50'000));
    auto got = pair.server.take();
    ASSERT_EQ(got.size(), 101u);
    EXPECT_EQ(got[0].body, "small");
    for (std::size_t i = 1; i < got.size(); ++i) {
      EXPECT_TRUE(got[i].body == body);
      EXPECT_EQ(got[i].method, got[i].call % 2 ? "SayHello" : "SayBye");
      EXPECT_EQ(*got[i].headers.find("n"), std::to_string(got[i].call));
    }
  }
}

TEST(Fragment, GoawayFailsWhatHasNotBegun) {
  const Limits limits{.max_frame = 100'000};
  Pair pair(limits, limits);
  const std::string body = pattern(100'000);
  for (std::uint32_t call = 1; call <= 6; ++call) {
    Frame sent = request(pair.hello, call, body);
    ASSERT_TRUE(pair.client.session.send(sent).ok());
  }
  Frame small = request(pair.hello, 7, "small");  // passes 5 and 6
  ASSERT_TRUE(pair.client.session.send(small).ok());
  ASSERT_FALSE(pair.server.feed(write_some(pair.client.session, 4 * first_part + 200)));
  EXPECT_EQ(pair.server.take().at(0).call, 7u);
  pair.server.session.close(Error(Errc::unavailable, "bye"));
  ASSERT_FALSE(pair.to_client());
  std::vector<std::uint32_t> failed;
  for (const Seen& seen : pair.client.take())
    if (seen.kind == FrameKind::error) failed.push_back(seen.call);
  std::sort(failed.begin(), failed.end());
  EXPECT_EQ(failed, (std::vector<std::uint32_t>{5, 6}));
  ASSERT_FALSE(pair.to_server());
  EXPECT_EQ(pair.server.take().size(), 4u);  // what was read in part is read to its end, and answered
  for (std::uint32_t call : {1u, 2u, 3u, 4u, 7u}) reply(pair, call, "ok");
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().size(), 5u);
}

// ---- cancel -------------------------------------------------------------------------------------------------------

TEST(FragmentCancel, ClientStopsSendingARequest) {
  Pair pair;
  const std::string body = pattern(1u << 20);
  Frame sent = request(pair.hello, 1, body);
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  ASSERT_FALSE(pair.server.feed(write_some(pair.client.session, 200'000)));
  Frame cancel = plain(FrameKind::cancel, 1);
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  const std::string rest = pair.client.drain();
  EXPECT_LT(rest.size(), 2 * refill_to);  // the rest of the body stays here
  ASSERT_FALSE(pair.server.feed(rest));
  EXPECT_TRUE(pair.server.sink.seen.empty());
  ASSERT_FALSE(pair.to_client());
  const Seen got = pair.client.take().at(0);
  EXPECT_EQ(got.error.code(), Errc::cancelled);
  EXPECT_EQ(got.error.delivery(), Delivery::not_run);
  ask(pair, {1});  // the number is free on both sides
}

TEST(FragmentCancel, RequestThatHasNotBegunIsNeverSent) {
  const Limits limits{.max_frame = 100'000};
  Pair pair(limits, limits);
  const std::string body = pattern(100'000);
  for (std::uint32_t call = 1; call <= 5; ++call) {
    Frame sent = request(pair.hello, call, body);
    ASSERT_TRUE(pair.client.session.send(sent).ok());
  }
  Frame cancel = plain(FrameKind::cancel, 5);
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_EQ(pair.server.take().size(), 4u);
  ASSERT_FALSE(pair.client.feed(framed(bytes({6, 0, 0, 0, 0, 0, 0, 0, 0}))));  // any news
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].call, 5u);
  EXPECT_EQ(got[0].error.code(), Errc::cancelled);
  EXPECT_EQ(got[0].error.delivery(), Delivery::not_run);
  ask(pair, {5});
}

TEST(FragmentCancel, ServerStopsSendingAResponse) {
  Pair pair;
  ask(pair, {1, 2});
  const std::string body = pattern(1u << 20);
  reply(pair, 1, body);
  ASSERT_FALSE(pair.client.feed(write_some(pair.server.session, 200'000)));
  Frame cancel = plain(FrameKind::cancel, 1);
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_TRUE(pair.server.sink.seen.empty());  // core has answered
  const std::string rest = pair.server.drain();
  EXPECT_LT(rest.size(), 2 * refill_to);
  ASSERT_FALSE(pair.client.feed(rest));
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].error.code(), Errc::cancelled);
  EXPECT_EQ(got[0].error.delivery(), Delivery::ran);
  ask(pair, {1});
  reply(pair, 2, "goes on");
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().at(0).body, "goes on");
}

TEST(FragmentCancel, ServerDropsAStreamsMessages) {
  Pair pair({.stream_window = 10u << 20});
  pair.open_stream(1);
  const std::string body = pattern(1u << 20);
  Frame large = message(1, body);
  Frame small = message(1, "behind");
  for (Frame* frame : {&large, &small}) ASSERT_TRUE(pair.server.session.send(*frame).ok());
  ASSERT_FALSE(pair.client.feed(write_some(pair.server.session, 200'000)));
  Frame give = credit(1, 1000);
  Frame cancel = plain(FrameKind::cancel, 1);
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  ASSERT_TRUE(pair.client.session.send(give).ok());
  ASSERT_FALSE(pair.to_server());
  const auto seen = pair.server.take();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].kind, FrameKind::cancel);
  EXPECT_EQ(pair.server.session.credit(1), 0);
  EXPECT_FALSE(pair.server.session.send(small).ok());
  Frame last = end(1);  // core had not heard yet: it did not end well
  ASSERT_TRUE(pair.server.session.send(last).ok());
  ASSERT_FALSE(pair.to_client());
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].kind, FrameKind::end);
  EXPECT_EQ(got[0].error.code(), Errc::cancelled);
  ask(pair, {1});
}

TEST(FragmentCancel, AnswersThatCrossIt) {
  Pair pair;
  ask(pair, {1});
  const std::string body = pattern(200'000);
  reply(pair, 1, body);
  Frame cancel = plain(FrameKind::cancel, 1);
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  const std::string crossing = pair.client.drain();
  const std::string whole = pair.server.drain();
  ASSERT_FALSE(pair.server.feed(crossing));
  EXPECT_EQ(pair.server.session.unwritten(), 0u);
  ASSERT_FALSE(pair.client.feed(whole));
  EXPECT_TRUE(pair.client.take().at(0).body == body);
  // A stream that has ended well in our output is dropped as well.
  ask(pair, {2}, true);
  Frame first = head(2);
  first.body = body;
  Frame last = end(2);
  for (Frame* frame : {&first, &last}) ASSERT_TRUE(pair.server.session.send(*frame).ok());
  cancel.call = 2;
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_TRUE(pair.server.sink.seen.empty());
  ASSERT_FALSE(pair.to_client());
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].error.code(), Errc::cancelled);
  ask(pair, {2});
}

}  // namespace
}  // namespace tenon::wire::test
