// Anything at once, in random order and sizes, over a wire that is cut anywhere: what arrives is what was sent, once,
// in each call's order.
#include <gtest/gtest.h>

#include <map>

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

// Bytes that tell which they are.
std::string pattern(std::uint64_t mark, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(mark * 7 + i * 31 + i / 251);
  return text;
}
std::size_t random_size(Random& random) {
  switch (random(8)) {
    case 0: return 0;
    case 1: return direct_size - 3 + random(6);
    case 2: return parts_from - 3 + random(6);
    case 3: return random(400'000);
    default: return random(300);
  }
}

/// What is to arrive of one call, in order: body and attachment; at its end how it ended.
struct Expected {
  std::vector<std::string> texts;
  bool over = false;
  bool cancelled = false;
};
std::string text_of(std::string_view kind, std::string_view body, std::string_view attachment) {
  return std::string(kind) + " " + std::to_string(body.size()) + ":" + std::string(body) + "|" +
         std::string(attachment);
}

/// Bytes that one side has written and the other has not read.
struct Wire {
  std::string bytes;
  void carry(Peer& from, Peer& to, Random& random) {
    if (from.session.unwritten() > 0) {
      Gather gather;
      from.session.produce(gather, random(3) ? 1u << 20 : random(5000) + 1);
      ASSERT_GT(gather.bytes(), 0u);
      std::string given;
      for (const std::string_view part : gather.parts()) given += part;
      const std::size_t n = random(2) ? given.size() : random(given.size()) + 1;
      bytes.append(given, 0, n);
      from.session.written(n);
    }
    const std::size_t n = random(2) ? bytes.size() : random(bytes.size() + 1);
    const std::size_t chunk = n > 5000 ? random(70'000) + 500 : random(200) + 1;
    const Error error = to.feed(std::string_view(bytes).substr(0, n), chunk);
    ASSERT_FALSE(error) << error.text();
    bytes.erase(0, n);
  }
};

class Mixture : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void ask();
  void answer();
  void stream();
  void cancel();
  void read_server();
  void read_client();

  Random random{GetParam() * 0x9E3779B97F4A7C15u + 1};
  Pair pair{{.max_frame = 1u << 20, .stream_window = 100'000}, {.max_frame = 1u << 20}};
  std::map<std::uint32_t, std::string> asked;     // requests on their way, as they must arrive
  std::map<std::uint32_t, bool> to_answer;        // calls the server has got: is it a stream
  std::map<std::uint32_t, bool> streaming;        // streams with a head
  std::map<std::uint32_t, Expected> open;         // calls of the client
  std::map<std::uint32_t, std::int64_t> to_give;  // credit that the client owes
  std::uint64_t mark = 0;
  int ended = 0;
};

void Mixture::ask() {
  const auto call = static_cast<std::uint32_t>(random(30));
  if (open.count(call)) return;
  const std::string body = pattern(++mark, random_size(random));
  const std::string beside = random(3) ? "" : pattern(++mark, random_size(random));
  Frame frame = request(random(2) ? pair.hello : pair.goodbye, call, body);
  frame.stream = random(3) == 0;
  if (random(2)) frame.headers = Headers{{"k", std::to_string(random(3))}};
  frame.attachment = attached(beside);
  if (random(2)) {
    frame.body = {};
    frame.owned.append(body);
  }
  ASSERT_TRUE(pair.client.session.send(frame).ok());
  asked[call] = text_of(frame.stream ? "stream" : "plain", body, beside);
  open[call];
}

void Mixture::answer() {
  if (to_answer.empty()) return;
  const auto it = std::next(to_answer.begin(), static_cast<std::ptrdiff_t>(random(to_answer.size())));
  const auto [call, is_stream] = *it;
  to_answer.erase(it);
  Expected& expected = open.at(call);
  if (random(6) == 0) {
    Frame error = failure(call, Error(Errc::application, "no"));
    ASSERT_TRUE(pair.server.session.send(error).ok());
    expected.texts.push_back("error no");
    expected.over = true;
    return;
  }
  const std::string body = pattern(++mark, random_size(random));
  const std::string beside = random(3) ? "" : pattern(++mark, random_size(random));
  Frame reply = response(call, body);
  reply.stream = is_stream && random(4) != 0;
  reply.attachment = attached(beside);
  if (random(2)) reply.headers = Headers{{"r", std::to_string(random(3))}};
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  expected.texts.push_back(text_of(reply.stream ? "head" : "response", body, beside));
  expected.over = !reply.stream;
  if (reply.stream) streaming[call] = true;
}

void Mixture::stream() {
  if (streaming.empty()) return;
  const auto it = std::next(streaming.begin(), static_cast<std::ptrdiff_t>(random(streaming.size())));
  const std::uint32_t call = it->first;
  Expected& expected = open.at(call);
  const bool may = pair.server.session.credit(call) > 0;
  if (random(8) == 0) {
    Frame last = end(call, random(2) ? Error() : Error(Errc::application, "no"));
    expected.texts.push_back(last.error ? "end no" : "end");
    expected.over = true;
    ASSERT_TRUE(pair.server.session.send(last).ok());
    streaming.erase(it);
    return;
  }
  const std::string body = pattern(++mark, random_size(random));
  const std::string beside = random(3) ? "" : pattern(++mark, random_size(random));
  Frame one = message(call, body);
  one.attachment = attached(beside);
  ASSERT_EQ(pair.server.session.send(one).ok(), may);
  if (may) expected.texts.push_back(text_of("message", body, beside));
}

void Mixture::cancel() {
  if (open.empty()) return;
  const auto it = std::next(open.begin(), static_cast<std::ptrdiff_t>(random(open.size())));
  if (it->second.cancelled) return;
  Frame frame = plain(FrameKind::cancel, it->first);
  ASSERT_TRUE(pair.client.session.send(frame).ok());
  it->second.cancelled = true;
}

void Mixture::read_server() {
  for (const Seen& seen : pair.server.take()) {
    if (seen.kind == FrameKind::request) {
      ASSERT_TRUE(text_of(seen.stream ? "stream" : "plain", seen.body, seen.attachment) == asked.at(seen.call));
      asked.erase(seen.call);
      to_answer[seen.call] = seen.stream;
    } else if (seen.kind == FrameKind::cancel) {
      // As core does: what has not been answered is answered with `cancelled`, a stream is ended.
      ASSERT_EQ(to_answer.count(seen.call) + streaming.count(seen.call), 1u);
      const Error error(Errc::cancelled, "cancelled", Delivery::ran);
      Frame last = streaming.count(seen.call) ? end(seen.call, error) : failure(seen.call, error);
      ASSERT_TRUE(pair.server.session.send(last).ok());
      to_answer.erase(seen.call);
      streaming.erase(seen.call);
    }
  }
}

void Mixture::read_client() {
  for (const Seen& seen : pair.client.take()) {
    if (seen.kind == FrameKind::pong) continue;
    ASSERT_EQ(open.count(seen.call), 1u);
    Expected& expected = open.at(seen.call);
    const bool last = seen.kind == FrameKind::error || seen.kind == FrameKind::end ||
                      (seen.kind == FrameKind::response && !seen.stream);
    if (expected.cancelled && seen.error.code() == Errc::cancelled) {
      asked.erase(seen.call);
      ASSERT_TRUE(last);
    } else {
      const std::string text = seen.kind == FrameKind::error ? "error " + seen.error.text()
                               : seen.kind == FrameKind::end
                                   ? (seen.error ? "end " + seen.error.text() : std::string("end"))
                                   : text_of(seen.kind == FrameKind::message ? "message"
                                             : seen.stream                   ? "head"
                                                                             : "response",
                                             seen.body, seen.attachment);
      ASSERT_FALSE(expected.texts.empty());
      ASSERT_TRUE(text == expected.texts.front());
      expected.texts.erase(expected.texts.begin());
      ASSERT_EQ(last, expected.over && expected.texts.empty());
    }
    if (seen.kind == FrameKind::message) {
      const auto cost = static_cast<std::uint32_t>(stream_cost(seen.body.size(), seen.attachment.size()));
      Frame give = credit(seen.call, cost);
      ASSERT_TRUE(pair.client.session.send(give).ok());
    }
    if (last) {
      open.erase(seen.call);
      ++ended;
    }
  }
}

TEST_P(Mixture, ArrivesOnceAndInOrder) {
  Wire up, down;
  for (int step = 0; step < 600; ++step) {
    switch (random(6)) {
      case 0: ask(); break;
      case 1: answer(); break;
      case 2: stream(); break;
      case 3:
        if (random(8) == 0) cancel();
        break;
      case 4: up.carry(pair.client, pair.server, random); break;
      default: down.carry(pair.server, pair.client, random); break;
    }
    read_server();
    read_client();
    if (HasFatalFailure()) return;
  }
  for (int round = 0; !open.empty() && round < 3000; ++round) {
    up.carry(pair.client, pair.server, random);
    read_server();
    answer();
    if (!streaming.empty()) stream();
    down.carry(pair.server, pair.client, random);
    read_client();
    Frame ping = plain(FrameKind::ping, 1);  // news for calls that were given up before they began
    ASSERT_TRUE(pair.client.session.send(ping).ok());
    if (HasFatalFailure()) return;
  }
  EXPECT_TRUE(open.empty()) << open.size() << " calls were not answered";
  EXPECT_GT(ended, 20);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Mixture, ::testing::Range<std::uint64_t>(1, 13));

}  // namespace
}  // namespace tenon::wire::test
