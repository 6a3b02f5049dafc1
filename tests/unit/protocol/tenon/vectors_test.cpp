// Replays the test vectors of plugins/protocol-tenon/README.md: what this code sends is what the README says, byte by
// byte, and the other side reads it as the README says.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

// Lines "name: hex hex …" inside ```vectors blocks; a line that begins with a blank continues the one above.
std::map<std::string, std::string> read_vectors() {
  std::map<std::string, std::string> vectors;
  std::ifstream file(TENON_PROTOCOL_README);
  std::string line;
  std::string name;
  bool inside = false;
  while (std::getline(file, line)) {
    if (line.starts_with("```")) {
      inside = line == "```vectors";
      continue;
    }
    if (!inside || line.empty()) continue;
    if (line[0] != ' ') {
      name = line.substr(0, line.find(':'));
      line.erase(0, name.size() + 1);
    }
    std::istringstream bytes(line);
    std::string byte;
    while (bytes >> byte) vectors[name] += static_cast<char>(std::stoi(byte, nullptr, 16));
  }
  return vectors;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x ", static_cast<unsigned char>(c));
    text += digits;
  }
  return text;
}

class Vectors : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(vectors_.size(), 12u) << "no vectors in " << TENON_PROTOCOL_README; }
  void TearDown() override {
    for (const auto& [name, unused] : vectors_) ADD_FAILURE() << "vector " << name << " of the README is not replayed";
  }
  // `from` has just produced the vector; `to` reads it.
  void expect(const char* name, Peer& from, Peer& to) {
    const std::string sent = from.drain();
    EXPECT_EQ(hex(sent), hex(vectors_[name])) << name;
    const Error error = to.feed(vectors_[name]);
    EXPECT_FALSE(error) << name << ": " << error.text();
    vectors_.erase(name);
  }
  std::map<std::string, std::string> vectors_ = read_vectors();
};

TEST_F(Vectors, AreWhatIsSentAndRead) {
  const std::string body("\x08\xd2\x85\xd8\xcc\x04", 6);
  Methods methods;
  Peer client(Side::client);
  Peer server(Side::server);
  const auto call = [&](const char* name, Frame frame) {
    ASSERT_TRUE(client.session.send(frame).ok());
    expect(name, client, server);
  };
  const auto answer = [&](const char* name, Frame frame) {
    ASSERT_TRUE(server.session.send(frame).ok());
    expect(name, server, client);
  };
  expect("client preface", client, server);
  expect("server preface", server, client);
  call("first request", request(methods.hello, 1, body));
  EXPECT_EQ(server.take().at(0).text(),
            "0 call 1 token 1 yf-demo/demo.Greeter:1.0.SayHello protobuf+ 1000000000 [] body 6:" + body);
  call("warm request", request(methods.hello, 2, body));
  EXPECT_EQ(server.take().at(0).text(),
            "0 call 2 token 1 yf-demo/demo.Greeter:1.0.SayHello protobuf+ 1000000000 [] body 6:" + body);
  Frame with_headers = request(methods.hello, 3, "", 0ns);
  with_headers.headers = Headers{{"a", "b"}};
  call("request defining a header list", std::move(with_headers));
  Frame again = request(methods.hello, 4, "", 0ns);
  again.headers = Headers{{"a", "b"}};
  call("request referring to it", std::move(again));
  for (const Seen& seen : server.take()) EXPECT_EQ(seen.headers, (Headers{{"a", "b"}}));
  Frame quiet = request(methods.hello, 5, "", 0ns);
  quiet.one_way = true;
  call("one-way request", std::move(quiet));
  EXPECT_TRUE(server.take().at(0).one_way);
  answer("response", response(1, body));
  EXPECT_EQ(client.take().at(0).body, body);
  Frame packed = response(2, "z");
  packed.compressor = "gzip";
  answer("response with its own content", std::move(packed));
  EXPECT_EQ(client.take().at(0).compressor, "gzip");
  Error failed(Errc::overloaded, "busy", Delivery::not_run);
  failed.advise(Advice::after, 200ms);
  failed.foreign("app", -2);
  answer("error", failure(3, failed));
  EXPECT_EQ(client.take().at(0).error.retry_after(), 200ms);
  call("cancel", plain(FrameKind::cancel, 4));
  EXPECT_EQ(server.take().at(0).kind, FrameKind::cancel);
  call("ping", plain(FrameKind::ping, 7));
  expect("pong", server, client);
  EXPECT_EQ(client.take().at(0).call, 7u);
  server.take();
  Frame beside = request(methods.hello, 7, "bo", 0ns);
  beside.attachment = attached("at");
  call("request with an attachment", std::move(beside));
  const Seen two = server.take().at(0);
  EXPECT_EQ(two.body + "|" + two.attachment, "bo|at");
  Frame beside_reply = response(7, "");
  beside_reply.attachment = attached("at");
  answer("response with an attachment", std::move(beside_reply));
  EXPECT_EQ(client.take().at(0).attachment, "at");
  Frame stream = request(methods.hello, 8, "q", 0ns);
  stream.stream = true;
  call("request for a stream", std::move(stream));
  EXPECT_TRUE(server.take().at(0).stream);
  answer("head of a stream", head(8));
  EXPECT_TRUE(client.take().at(0).stream);
  answer("message", message(8, "one"));
  EXPECT_EQ(client.take().at(0).body, "one");
  Frame packed_message = message(8, "z");
  packed_message.compressor = "gzip";
  packed_message.attachment = attached("at");
  answer("message with its own content and an attachment", std::move(packed_message));
  EXPECT_EQ(client.take().at(0).attachment, "at");
  call("credit", credit(8, 1000));
  EXPECT_EQ(server.take().at(0).credit, 1000u);
  answer("end", end(8));
  EXPECT_EQ(client.take().at(0).kind, FrameKind::end);
  Frame second_stream = request(methods.hello, 9, "", 0ns);
  second_stream.stream = true;
  call("request for a second stream", std::move(second_stream));
  answer("its head", head(9));
  Frame last = end(9, failed);
  last.headers = Headers{{"a", "b"}};
  answer("end with trailers and a failure", std::move(last));
  EXPECT_EQ(*client.take().at(1).headers.find("a"), "b");
  // Parts this small are made by hand.
  server.take();
  Frame tenth = request(methods.hello, 10, "abc", 0ns);
  ASSERT_TRUE(client.session.send(tenth).ok());
  client.drain();
  ASSERT_FALSE(server.feed(vectors_["request in two parts"]));
  vectors_.erase("request in two parts");
  EXPECT_EQ(server.take().at(0).body, "abc");
  // An entry that nobody defined, by hand, then what the server says.
  ASSERT_FALSE(server.feed(vectors_["request with an unknown entry"]));
  vectors_.erase("request with an unknown entry");
  Frame sixth = request(methods.hello, 6, "", 0ns);
  ASSERT_TRUE(client.session.send(sixth).ok());
  client.drain();
  expect("unknown entry", server, client);
  EXPECT_TRUE(client.take().at(0).resend);
  server.session.close(Error(Errc::unavailable, "bye", Delivery::not_run));
  expect("goaway", server, client);
  EXPECT_EQ(client.take().at(0).error.text(), "bye");
}

}  // namespace
}  // namespace tenon::wire::test
