// Attachments: bytes beside the body, of every size, sent from where they are.
#include <gtest/gtest.h>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

std::string pattern(std::size_t size, char first) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(first + i * 31 + i / 251);
  return text;
}
OutBuffer block(std::string_view bytes) {
  OutBuffer buffer;
  buffer.append(bytes);
  return buffer;
}

const std::size_t sizes[] = {0,
                             1,
                             direct_size - 1,
                             direct_size,
                             parts_from - direct_size,
                             parts_from - 1,
                             parts_from,
                             first_part + later_part,
                             1'000'000};

// Every pair of sizes, in the three kinds of frame that carry attachments, in pieces and at once.
TEST(Attachment, SizesAroundTheThresholds) {
  for (const std::size_t chunk : {std::size_t{20'000}, std::string::npos}) {
    for (const std::size_t body_size : sizes) {
      for (const std::size_t size : sizes) {
        const std::string body = pattern(body_size, 'b');
        const std::string beside = pattern(size, 'a');
        Pair pair({.stream_window = 100u << 20});
        for (const bool owned : {false, true}) {
          Frame asked = request(pair.hello, 1, body);
          if (owned) {
            asked.body = {};
            asked.owned = block(body);
          }
          asked.stream = true;
          asked.attachment = attached(beside);
          ASSERT_TRUE(pair.client.session.send(asked).ok());
          ASSERT_FALSE(pair.to_server(chunk));
          const Seen got = pair.server.take().at(0);
          ASSERT_TRUE(got.body == body && got.attachment == beside) << body_size << " " << size;
          Frame first = head(1);
          first.body = body;
          first.attachment = attached(beside);
          Frame one = message(1, body);
          one.attachment = attached(beside);
          Frame last = end(1);
          for (Frame* frame : {&first, &one, &last}) ASSERT_TRUE(pair.server.session.send(*frame).ok());
          ASSERT_FALSE(pair.to_client(chunk));
          const auto back = pair.client.take();
          ASSERT_EQ(back.size(), 3u);
          for (const int i : {0, 1})
            ASSERT_TRUE(back[i].body == body && back[i].attachment == beside) << body_size << " " << size;
          EXPECT_LE(pair.client.most_kept, direct_size + 16);
        }
      }
    }
  }
}

TEST(Attachment, LargeOneIsWrittenFromWhereItIs) {
  for (const std::size_t size : {direct_size, std::size_t{1} << 20}) {
    Pair pair;
    Frame sent = request(pair.hello, 1, "body");
    sent.attachment = attached(pattern(size, 'a'));
    const char* const where = sent.attachment.bytes().data();
    ASSERT_TRUE(pair.client.session.send(sent).ok());
    Gather gather;
    pair.client.session.produce(gather, 1u << 20);
    bool found = false;
    for (const std::string_view part : gather.parts()) found |= part.data() >= where && part.data() < where + size;
    EXPECT_TRUE(found);
    // It lives until it is written, whoever forgets it.
    sent.attachment = {};
    ASSERT_FALSE(pair.to_server());
    EXPECT_TRUE(pair.server.take().at(0).attachment == pattern(size, 'a'));
  }
}

// What the sink keeps outlives the frame and the session.
TEST(Attachment, ReceivedOneMayBeKept) {
  struct Keeping : FrameSink {
    void on_frame(Frame& frame) override {
      kept.push_back(frame.attachment);
      bodies.emplace_back(frame.bytes());
      owned.push_back(!frame.owned.empty());
    }
    std::vector<Attachment> kept;
    std::vector<std::string> bodies;
    std::vector<bool> owned;
  } sink;
  const std::pair<std::size_t, std::size_t> cases[] = {{5, 50}, {5, 100'000}, {100'000, 50}, {100'000, 100'000}};
  {
    Pair pair;
    std::uint32_t call = 0;
    for (const auto& [body_size, size] : cases) {
      const std::string body = pattern(body_size, 'b');
      Frame sent = request(pair.hello, ++call, body);
      sent.attachment = attached(pattern(size, 'a'));
      ASSERT_TRUE(pair.client.session.send(sent).ok());
      const std::string all = pair.client.drain();
      Result<std::size_t> taken = pair.server.session.received(all, sink);
      ASSERT_TRUE(taken.ok());
      ASSERT_EQ(*taken, all.size());
    }
  }
  ASSERT_EQ(sink.kept.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(sink.kept[i].bytes() == pattern(cases[i].second, 'a'));
    EXPECT_TRUE(sink.bodies[i] == pattern(cases[i].first, 'b'));
  }
  // A small attachment does not keep a large body; a large one shares what was received.
  EXPECT_EQ(sink.owned, (std::vector<bool>{false, false, true, false}));
}

TEST(Attachment, CountsAsPartOfTheFrame) {
  Pair pair({}, {.max_frame = 1000});
  Frame sent = request(pair.hello, 1, "0123456789");
  sent.attachment = attached(std::string(991, 'a'));
  Result<void> refused = pair.client.session.send(sent);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::too_large);
  for (const char* fact : {"SayHello", "991", "1001", "1000", "attachment"})
    EXPECT_NE(refused.error().text().find(fact), std::string::npos) << refused.error().text();
  EXPECT_EQ(pair.client.session.unwritten(), 0u);
  sent.attachment = attached(std::string(990, 'a'));
  EXPECT_TRUE(pair.client.session.send(sent).ok());
}

TEST(Attachment, HostileSizes) {
  const std::string start = bytes({0x81, 1, 0}) + std::string(6, '\0') + bytes({0});
  for (const std::uint64_t size : {std::uint64_t{4}, std::uint64_t{1} << 31, ~std::uint64_t{0}}) {
    Pair pair;
    const Error error = pair.server.feed(framed(start + varint(size) + "abc"));
    EXPECT_EQ(error.code(), Errc::malformed) << size;
    EXPECT_NE(error.text().find("attachment"), std::string::npos);
  }
  Pair pair;
  ASSERT_FALSE(pair.server.feed(framed(start + varint(3) + "abc")));
  EXPECT_EQ(pair.server.take().at(0).attachment, "abc");
}

TEST(Attachment, OneWayKeepsTheOrderAndLeavesWhole) {
  Pair pair;
  const std::string body = pattern(200'000, 'b');
  Frame quiet = request(pair.hello, 1, body);
  quiet.one_way = true;
  quiet.attachment = attached(pattern(300'000, 'a'));
  Frame small = request(pair.hello, 1, "behind");
  for (Frame* frame : {&quiet, &small}) ASSERT_TRUE(pair.client.session.send(*frame).ok());
  ASSERT_FALSE(pair.to_server(7777));
  const auto got = pair.server.take();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(got[0].body == body && got[0].attachment == pattern(300'000, 'a'));
  EXPECT_EQ(got[1].body, "behind");
}

}  // namespace
}  // namespace tenon::wire::test
