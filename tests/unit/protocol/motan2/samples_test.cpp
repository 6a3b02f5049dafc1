// Frames captured between motan-go and Motan Java, read by our sessions.
#include "samples.hpp"

#include <gtest/gtest.h>

#include "tenon/value.hpp"
#ifdef TENON_WITH_SIMPLE
#include "simple_serializer.hpp"
#endif
#ifdef TENON_WITH_GZIP
#include "gzip_compressor.hpp"
#endif

namespace tenon::motan2::test {
namespace {

/// What an errcode of the samples means here.
struct Meaning {
  std::int64_t errcode;
  Errc code;
  Delivery delivery;
  Advice advice;
};
constexpr Meaning meanings[] = {
    {404, Errc::not_found, Delivery::not_run, Advice::other_instance},
    {500, Errc::internal, Delivery::maybe_run, Advice::none},
    {10001, Errc::internal, Delivery::maybe_run, Advice::none},
    {10101, Errc::not_found, Delivery::not_run, Advice::never},
    {30001, Errc::application, Delivery::ran, Advice::never},
};

Headers attachments(const Sample& sample, std::initializer_list<std::string_view> without) {
  Headers headers;
  for (const auto& [key, value] : sample.metadata)
    if (std::find(without.begin(), without.end(), key) == without.end()) headers.set(key, value);
  return headers;
}

/// A session that can take the sample. A client's session accepts replies to ids it has given out, so it has made a
/// request, and the sample is told to answer that.
struct Reading {
  explicit Reading(const Sample& sample) : peer(sample.is_request ? Side::server : Side::client), bytes(sample.bytes) {
    if (sample.is_request) return;
    Frame ask = sample.heartbeat() ? plain(FrameKind::ping) : request(methods.hello, 7);
    EXPECT_TRUE(peer.session.send(ask).ok());
    bytes.replace(5, 8, peer.drain().substr(5, 8));
  }
  Methods methods;
  Peer peer;
  std::string bytes;
};

void check_request(const Sample& sample, const Seen& seen) {
  EXPECT_EQ(seen.kind, FrameKind::request);
  EXPECT_EQ(seen.interface, sample.find("M_p"));
  EXPECT_EQ(seen.method, sample.find("M_m"));
  EXPECT_EQ(seen.group, "motan-demo-rpc");
  EXPECT_EQ(seen.version, sample.find("version"));
  EXPECT_TRUE(seen.loose_names);
  EXPECT_FALSE(seen.one_way) << "Motan's servers answer all the same";
  EXPECT_EQ(seen.remaining, Duration{0});
  EXPECT_EQ(seen.headers, attachments(sample, {"M_p", "M_m", "M_g", "M_pp"}));
}

void check_error(const Sample& sample, const Seen& seen) {
  EXPECT_EQ(seen.kind, FrameKind::error);
  const auto* meaning = std::find_if(std::begin(meanings), std::end(meanings),
                                     [&](const Meaning& one) { return one.errcode == sample.errcode; });
  ASSERT_NE(meaning, std::end(meanings));
  EXPECT_EQ(seen.error.code(), meaning->code);
  EXPECT_EQ(seen.error.delivery(), meaning->delivery);
  EXPECT_EQ(seen.error.advice(), meaning->advice);
  EXPECT_EQ(seen.error.text(), sample.errmsg);
  EXPECT_EQ(seen.error.domain(), "motan");
  EXPECT_EQ(seen.error.foreign_code(), sample.errcode);
  EXPECT_EQ(seen.error.headers(), nullptr) << "each has its code's usual errtype";
}

void check(const Sample& sample, const std::vector<Seen>& all) {
  ASSERT_EQ(all.size(), 1u);
  const Seen& seen = all[0];
  if (sample.heartbeat()) {
    EXPECT_EQ(seen.kind, sample.is_request ? FrameKind::ping : FrameKind::pong);
    return;
  }
  if (sample.status != 0) return check_error(sample, seen);
  EXPECT_EQ(seen.serializer, serializer_name(sample.serializer));
  EXPECT_EQ(seen.compressor, sample.type & 8 ? "gzip" : "");
  if (sample.is_request) {
    check_request(sample, seen);
  } else {
    EXPECT_EQ(seen.kind, FrameKind::response);
    EXPECT_EQ(seen.call, 7u);
    EXPECT_EQ(seen.headers, attachments(sample, {"M_pt"}));
    EXPECT_EQ(seen.took, std::chrono::milliseconds(std::stoi(sample.find("M_pt"))));
  }
}

class Samples : public ::testing::TestWithParam<Sample> {};

TEST_P(Samples, SayWhatTheySay) {
  const Sample& sample = GetParam();
  Reading reading(sample);
  const Error error = reading.peer.feed(reading.bytes);
  ASSERT_FALSE(error) << error.text();
  EXPECT_TRUE(reading.peer.rest.empty());
  check(sample, reading.peer.sink.seen);
  // The second parser of these tests is checked by the same frames.
  const std::vector<Wire> wire = Wire::all(sample.bytes);
  ASSERT_EQ(wire.size(), 1u);
  EXPECT_EQ(wire[0].type, sample.type);
  EXPECT_EQ(wire[0].version, 1u);
  EXPECT_EQ(wire[0].status, sample.status);
  EXPECT_EQ(wire[0].serializer, sample.serializer);
  EXPECT_EQ(wire[0].id, sample.id);
  auto pairs = wire[0].pairs();
  EXPECT_EQ(pairs.erase("M_e"), sample.status);
  EXPECT_EQ(pairs, sample.pairs());
  EXPECT_EQ(wire[0].bytes(), sample.bytes);
}

TEST_P(Samples, WhereverTheyAreCut) {
  const Sample& sample = GetParam();
  Reading whole(sample);
  ASSERT_FALSE(whole.peer.feed(whole.bytes));
  const std::vector<std::string> wanted = texts(whole.peer.sink.seen);
  Reading bytewise(sample);
  ASSERT_FALSE(bytewise.peer.feed(bytewise.bytes, 1));
  EXPECT_EQ(texts(bytewise.peer.sink.seen), wanted);
  for (std::size_t cut = 1; cut < sample.bytes.size(); ++cut) {
    Reading parts(sample);
    ASSERT_FALSE(parts.peer.feed(parts.bytes.substr(0, cut)));
    ASSERT_TRUE(parts.peer.sink.seen.empty()) << cut;
    ASSERT_FALSE(parts.peer.feed(parts.bytes.substr(cut)));
    ASSERT_EQ(texts(parts.peer.sink.seen), wanted) << cut;
  }
}

TEST_P(Samples, BodyBegunInItsOwnBuffer) {
  // The same frames behind a head that is larger than the shared buffer wants to keep.
  const Sample& sample = GetParam();
  if (sample.heartbeat()) return;
  Reading reading(sample);
  Wire wire = Wire::all(reading.bytes).at(0);
  wire.metadata += "\npadding\n" + std::string(40 << 10, 'p');
  const std::string bytes = wire.bytes();
  ASSERT_FALSE(reading.peer.feed(bytes, 1000));
  ASSERT_EQ(reading.peer.sink.seen.size(), 1u);
  Seen& seen = reading.peer.sink.seen[0];
  EXPECT_LT(reading.peer.most_kept, 33u << 10);
  if (sample.status != 0) return;
  EXPECT_TRUE(seen.headers.erase("padding"));
  EXPECT_EQ(seen.body, wire.body);
  EXPECT_EQ(seen.owned, !wire.body.empty());
  check(sample, reading.peer.sink.seen);
}

#ifdef TENON_WITH_SIMPLE
template <class T>
T decoded(std::string_view body) {
  const simple::SimpleSerializer serializer;
  T object;
  const Result<void> done = serializer.decode(body, message_type<T>(), &object);
  EXPECT_TRUE(done.ok()) << done.error().text();
  return object;
}

std::string describe_body(const Sample& sample, std::string_view body) {
  if (!sample.is_request) return describe(decoded<Bare<Value>>(body).value);
  std::string text;
  const std::string types = sample.find("M_md");
  const bool two = sample.find("M_m") == "add";
  if (two || sample.find("M_m") == "maps") {
    const auto [a, b, c] = two ? std::tuple_cat(decoded<Arguments<Value, Value>>(body).values, std::tuple<Value>())
                               : decoded<Arguments<Value, Value, Value>>(body).values;
    return describe(a) + ", " + describe(b) + (two ? "" : ", " + describe(c));
  }
  return describe(std::get<0>(decoded<Arguments<Value>>(body).values));
}

TEST_P(Samples, BodiesHoldTheirValues) {
  const Sample& sample = GetParam();
  if (!sample.value) return;
  Reading reading(sample);
  ASSERT_FALSE(reading.peer.feed(reading.bytes));
  ASSERT_EQ(reading.peer.sink.seen.size(), 1u);
  std::string body = reading.peer.sink.seen[0].body;
  if (sample.type & 8) {
#ifdef TENON_WITH_GZIP
    OutBuffer inflated;
    const Result<void> done = gzip::GzipCompressor({}).decompress(body, inflated, 1u << 20);
    ASSERT_TRUE(done.ok()) << done.error().text();
    body = inflated.view();
#else
    return;
#endif
  }
  EXPECT_EQ(describe_body(sample, body), *sample.value);
}
#endif

std::string test_name(const ::testing::TestParamInfo<Sample>& info) {
  std::string name = info.param.name + (info.param.is_request ? "_request" : "_reply");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Captured, Samples, ::testing::ValuesIn(samples()), test_name);

TEST(SampleFile, IsComplete) {
  EXPECT_EQ(samples().size(), 65u);
  EXPECT_EQ(std::ranges::count_if(samples(), [](const Sample& s) { return s.value.has_value(); }), 32);
}

// All of one direction as one stream, in pieces of every size up to a frame's.
TEST(SampleFile, OneStream) {
  std::string stream;
  std::size_t count = 0;
  for (const Sample& sample : samples()) {
    if (!sample.is_request) continue;
    stream += sample.bytes;
    ++count;
  }
  Peer whole(Side::server);
  ASSERT_FALSE(whole.feed(stream));
  ASSERT_EQ(whole.sink.seen.size(), count);
  for (std::size_t chunk = 1; chunk < 300; ++chunk) {
    Peer peer(Side::server);
    ASSERT_FALSE(peer.feed(stream, chunk));
    ASSERT_EQ(texts(peer.sink.seen), texts(whole.sink.seen)) << chunk;
  }
}

}  // namespace
}  // namespace tenon::motan2::test
