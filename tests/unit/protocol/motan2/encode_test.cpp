// What our sessions write for what the captured frames say, read by the tests' own parser.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "samples.hpp"

namespace tenon::motan2::test {
namespace {

Headers attachments(const Sample& sample, std::initializer_list<std::string_view> without) {
  Headers headers;
  for (const auto& [key, value] : sample.pairs(without)) headers.set(key, value);
  return headers;
}

void expect_frame(const Wire& sent, const Sample& sample) {
  const Wire wanted = Wire::all(sample.bytes).at(0);
  EXPECT_EQ(sent.type, wanted.type);
  EXPECT_EQ(sent.version, 1u);
  EXPECT_EQ(sent.status, wanted.status);
  EXPECT_EQ(sent.serializer, wanted.serializer);
  EXPECT_EQ(sent.body, wanted.body);
}

class Encoded : public ::testing::TestWithParam<Sample> {};

// What server and client sessions need to be asked for before they send the sample.
void send_request(const Sample& sample) {
  const ServiceName service{sample.find("M_p"), sample.find("M_g"), ""};
  const std::string method_name = sample.find("M_m");
  const Method method{.name = method_name};
  const Target target{.service = &service, .method = &method};
  const std::string body = Wire::all(sample.bytes).at(0).body;
  Peer client(Side::client);
  Frame frame = request(target, 3, body);
  frame.serializer = serializer_name(sample.serializer);
  frame.headers = attachments(sample, {"M_p", "M_m", "M_g", "M_pp"});
  frame.one_way = (sample.type & 4) != 0;
  if (sample.type & 8) frame.compressor = "gzip";
  const Result<void> done = client.session.send(frame);
  ASSERT_TRUE(done.ok()) << done.error().text();
  const std::vector<Wire> sent = Wire::all(client.drain());
  ASSERT_EQ(sent.size(), 1u);
  expect_frame(sent[0], sample);
  EXPECT_EQ(sent[0].pairs(), sample.pairs());
  EXPECT_NE(sent[0].metadata.back(), '\n') << "motan-go and Java end the metadata with a value";
}

void send_heartbeat(const Sample& sample) {
  Peer client(Side::client, {}, {.heartbeat = HeartbeatStyle::go});
  Frame ping = plain(FrameKind::ping);
  ASSERT_TRUE(client.session.send(ping).ok());
  const std::vector<Wire> sent = Wire::all(client.drain());
  ASSERT_EQ(sent.size(), 1u);
  expect_frame(sent[0], sample);
  EXPECT_TRUE(sent[0].metadata.empty());
}

// The error that a client makes of the sample, as a server answers with it.
Frame error_of(const Sample& sample) {
  Methods methods;
  Peer client(Side::client);
  Frame ask = request(methods.hello, 0);
  EXPECT_TRUE(client.session.send(ask).ok());
  std::string bytes = sample.bytes;
  bytes.replace(5, 8, client.drain().substr(5, 8));
  EXPECT_FALSE(client.feed(bytes));
  return failure(0, client.sink.seen.at(0).error);
}

void send_reply(const Sample& sample) {
  Peer server(Side::server);
  ASSERT_FALSE(server.feed(motan2::test::sample(sample.name, true).bytes));
  ASSERT_EQ(server.sink.seen.size(), 1u);
  if (sample.heartbeat()) {
    const std::vector<Wire> sent = Wire::all(server.drain());
    ASSERT_EQ(sent.size(), 1u);
    // Answered in the asker's style, as motan-go does; Java answers in its own.
    EXPECT_EQ(sent[0].type, 0x13u);
    EXPECT_EQ(sent[0].serializer, 6u);
    EXPECT_EQ(sent[0].id, sample.id);
    EXPECT_TRUE(sent[0].metadata.empty() && sent[0].body.empty());
    return;
  }
  const std::string body = Wire::all(sample.bytes).at(0).body;
  const std::string took = sample.find("M_pt").empty() ? "0" : sample.find("M_pt");
  Frame frame = sample.status ? error_of(sample) : response(0, body);
  frame.call = server.sink.seen[0].call;
  frame.took = std::chrono::milliseconds(std::stoi(took));
  if (!sample.status) frame.serializer = serializer_name(sample.serializer);
  const Result<void> done = server.session.send(frame);
  ASSERT_TRUE(done.ok()) << done.error().text();
  std::vector<Wire> sent = Wire::all(server.drain());
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].id, sample.id);
  auto pairs = sent[0].pairs();
  if (sample.status) {
    const auto json = boost::json::parse(pairs["M_e"]);
    EXPECT_EQ(json, boost::json::value(
                        {{"errcode", sample.errcode}, {"errmsg", sample.errmsg}, {"errtype", sample.errtype}}));
    // Java answers what it cannot read in hessian2; this side says the request's serializer.
    sent[0].serializer = sample.serializer;
  }
  EXPECT_EQ(pairs.erase("M_e"), sample.status);
  expect_frame(sent[0], sample);
  auto wanted = sample.pairs();
  wanted.emplace("M_pt", "0");  // motan-go leaves it out with some errors
  EXPECT_EQ(pairs, wanted);
}

TEST_P(Encoded, SaysTheSame) {
  const Sample& sample = GetParam();
  if (!sample.is_request) return send_reply(sample);
  if (sample.heartbeat()) return send_heartbeat(sample);
  send_request(sample);
}

std::string test_name(const ::testing::TestParamInfo<Sample>& info) {
  std::string name = info.param.name + (info.param.is_request ? "_request" : "_reply");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Captured, Encoded, ::testing::ValuesIn(samples()), test_name);

TEST(Encode, RequestWithEverything) {
  Methods methods;
  Peer client(Side::client, {}, {.application = "app", .module_name = "part"});
  Frame frame = request(methods.hello, 1, "body", 1500us);
  frame.headers = {{"a", "1"}, {"empty", ""}, {"M_md", "int"}, {"M_fws", "y"}};
  ASSERT_TRUE(client.session.send(frame).ok());
  const std::map<std::string, std::string> wanted{{"M_p", "demo.Greeter"}, {"M_m", "hello"}, {"M_g", "yf-demo"},
                                                  {"M_v", "1.0"},          {"a", "1"},       {"empty", ""},
                                                  {"M_md", "int"},         {"M_fws", "y"},   {"M_s", "app"},
                                                  {"M_mdu", "part"},       {"M_tmo", "2"},   {"M_pp", "motan2"}};
  EXPECT_EQ(Wire::all(client.drain()).at(0).pairs(), wanted) << "1500 us are rounded up";
}

TEST(Encode, TheCallersOwnSourceWins) {
  Methods methods;
  Peer client(Side::client, {}, {.application = "app", .module_name = "part"});
  Frame frame = request(methods.hello, 1);
  frame.headers = {{"M_s", "proxied"}, {"M_mdu", "other"}};
  ASSERT_TRUE(client.session.send(frame).ok());
  const auto pairs = Wire::all(client.drain()).at(0).pairs();
  EXPECT_EQ(pairs.at("M_s"), "proxied");
  EXPECT_EQ(pairs.at("M_mdu"), "other");
  EXPECT_EQ(pairs.count("(twice)"), 0u);
}

TEST(Encode, TimeThatIsUpIsOneMillisecond) {
  Methods methods;
  Peer client(Side::client);
  Frame frame = request(methods.hello, 1, "", -5s);
  ASSERT_TRUE(client.session.send(frame).ok());
  EXPECT_EQ(Wire::all(client.drain()).at(0).pairs().at("M_tmo"), "1");
}

TEST(Encode, ReplyHeaders) {
  Peer server(Side::server);
  ASSERT_FALSE(server.feed(wire_request(9).bytes()));
  Frame reply = response(server.sink.seen.at(0).call, "gz");
  reply.headers = {{"k", "v"}, {"empty", ""}};
  reply.took = 12345678ns;
  reply.compressor = "gzip";
  ASSERT_TRUE(server.session.send(reply).ok());
  const Wire sent = Wire::all(server.drain()).at(0);
  EXPECT_EQ(sent.pairs(), (std::map<std::string, std::string>{{"k", "v"}, {"empty", ""}, {"M_pt", "12"}}));
  EXPECT_EQ(sent.type, 0x09u);
  EXPECT_EQ(sent.id, 9u);
}

}  // namespace
}  // namespace tenon::motan2::test
