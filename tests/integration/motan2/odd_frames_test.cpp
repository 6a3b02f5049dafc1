// What our server does with the odd frames whose treatment by motan-go and Motan Java is known, row by row. Where the
// two differ, the comment says whom we follow; README.md of protocol-motan2 has the table.

#include "demo_service.hpp"
#include "frames.hpp"

namespace tenon::test {
namespace {

constexpr unsigned v1 = 1 << 3;
constexpr unsigned simple = 6;

const std::string hello_x("\x01\x00\x00\x00\x01x", 6);
const std::string answer_x("\x01\x00\x00\x00\x07hello x", 12);
const Pairs hello{{"M_p", demo_interface}, {"M_m", "hello"}};

class OddFrames : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = start(motan_server_options(), {demo_service()});
    ASSERT_TRUE(server_);
    peer_ = std::make_unique<MotanPeer>(server_->addresses().at(0));
  }
  /// The connection still answers an ordinary request.
  void expect_alive() {
    ASSERT_TRUE(peer_->send(raw_frame(0, v1, simple, 999, metadata_text(hello), hello_x)));
    expect_hello(999);
  }
  void expect_hello(std::uint64_t id) {
    const auto reply = peer_->receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->type, 0x01u);
    EXPECT_EQ(reply->state, v1);
    EXPECT_EQ(reply->serializer, simple << 3);
    EXPECT_EQ(reply->id, id);
    EXPECT_EQ(reply->body, answer_x);
    EXPECT_TRUE(reply->metadata.contains("M_pt"));
  }
  MotanFrame expect_error(std::uint64_t id, int errcode) {
    const auto reply = peer_->receive();
    if (!reply) {
      ADD_FAILURE() << "no reply";
      return {};
    }
    EXPECT_TRUE(reply->error()) << reply->state;
    EXPECT_EQ(reply->id, id);
    EXPECT_EQ(reply->errcode(), errcode) << reply->exception();
    EXPECT_TRUE(reply->body.empty());
    return *reply;
  }
  void send(unsigned type, unsigned state, unsigned serializer, std::uint64_t id, const Pairs& metadata,
            const std::string& body) {
    ASSERT_TRUE(peer_->send(raw_frame(type, state, serializer, id, metadata_text(metadata), body)));
  }

  std::unique_ptr<App> server_;
  std::unique_ptr<MotanPeer> peer_;
};

TEST_F(OddFrames, JavaHeartbeat) {  // each server answers in its own style; ours in the asker's
  ASSERT_TRUE(peer_->send(raw_frame(0x10, v1, 1, 77, "", "")));
  const auto reply = peer_->receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->type, 0x11u);
  EXPECT_EQ(reply->serializer, 0x08u);
  EXPECT_EQ(reply->id, 77u);
}

TEST_F(OddFrames, GoHeartbeat) {
  ASSERT_TRUE(peer_->send(raw_frame(0x12, v1, simple, 78, "", "")));
  const auto reply = peer_->receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->type, 0x13u);
  EXPECT_EQ(reply->serializer, 0x30u);
  EXPECT_EQ(reply->id, 78u);
}

TEST_F(OddFrames, MinimalMetadata) {
  send(0, v1, simple, 2, hello, hello_x);
  expect_hello(2);
}

TEST_F(OddFrames, OneWayBitIsAnsweredAsBothDo) {
  send(0x04, v1, simple, 3, hello, hello_x);
  expect_hello(3);
}

TEST_F(OddFrames, ProxyBitIsAnsweredWithoutIt) {
  send(0x02, v1, simple, 4, hello, hello_x);
  expect_hello(4);
}

TEST_F(OddFrames, UnpairedKeyIsIgnored) {  // as Java; Go closes the connection
  ASSERT_TRUE(peer_->send(raw_frame(0, v1, simple, 5, metadata_text(hello) + "\nodd", hello_x)));
  expect_hello(5);
}

TEST_F(OddFrames, EmptyValueInTheMiddle) {
  send(0, v1, simple, 6, {{"k1", ""}, hello[0], hello[1]}, hello_x);
  expect_hello(6);
}

TEST_F(OddFrames, TrailingNewline) {
  ASSERT_TRUE(peer_->send(raw_frame(0, v1, simple, 7, metadata_text(hello) + "\n", hello_x)));
  expect_hello(7);
}

TEST_F(OddFrames, Version0Closes) {  // motan1: Go tries to parse it and closes, Java answers in motan1
  send(0, 0, simple, 8, hello, hello_x);
  EXPECT_TRUE(peer_->closed());
}

TEST_F(OddFrames, Version2Closes) {  // as Go; Java answers as if it were version 1
  send(0, 2 << 3, simple, 9, hello, hello_x);
  EXPECT_TRUE(peer_->closed());
}

TEST_F(OddFrames, BadMagicCloses) {
  std::string frame = raw_frame(0, v1, simple, 10, metadata_text(hello), hello_x);
  frame[1] = '\xf2';
  ASSERT_TRUE(peer_->send(frame));
  EXPECT_TRUE(peer_->closed());
}

TEST_F(OddFrames, BadMagicAfterAGoodFrameCloses) {
  expect_alive();
  ASSERT_TRUE(peer_->send("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_TRUE(peer_->closed());
}

TEST_F(OddFrames, UnknownSerializer) {  // Java's code; Go says 500. The number is echoed, Java says 0, Go 6
  send(0, v1, 3, 11, hello, hello_x);
  const MotanFrame reply = expect_error(11, 10001);
  EXPECT_EQ(reply.serializer, 3u << 3);
  EXPECT_NE(reply.exception().find("serializer 3"), std::string::npos) << reply.exception();
  expect_alive();
}

TEST_F(OddFrames, Hessian2IsNamed) {
  send(0, v1, 0, 12, hello, "\x03Ray");
  EXPECT_NE(expect_error(12, 10001).exception().find("hessian2"), std::string::npos);
  expect_alive();
}

TEST_F(OddFrames, BodyLengthOverTheLimit) {  // answered at once, skipped; both peers close
  std::string frame = raw_frame(0, v1, simple, 13, metadata_text(hello), "");
  frame.resize(frame.size() - 4);
  ASSERT_TRUE(peer_->send(frame + big_endian((4u << 20) + 1, 4)));
  EXPECT_NE(expect_error(13, 10201).exception().find("limits.max_frame"), std::string::npos);
  ASSERT_TRUE(peer_->send(std::string((4u << 20) + 1, 'x')));
  expect_alive();
}

TEST_F(OddFrames, MetadataLengthOverTheLimit) {  // answered, then closed, as Java does
  std::string frame = raw_frame(0, v1, simple, 14, "", "");
  frame.replace(13, 4, big_endian((10u << 20) + 1, 4));
  ASSERT_TRUE(peer_->send(frame));
  EXPECT_NE(expect_error(14, 10201).exception().find("limits.max_headers"), std::string::npos);
  EXPECT_TRUE(peer_->closed());
}

TEST_F(OddFrames, GzipBitWithoutGzip) {  // refused, as Java does; Go takes the body as it is
  send(0x08, v1, simple, 15, hello, hello_x);
  expect_error(15, 10001);
  expect_alive();
}

TEST_F(OddFrames, EmptyBodyForOneArgument) {  // both run the method and fail inside; ours does not run it
  send(0, v1, simple, 16, hello, "");
  EXPECT_NE(expect_error(16, 10001).exception().find("argument 1"), std::string::npos);
  expect_alive();
}

TEST_F(OddFrames, TruncatedString) {
  send(0, v1, simple, 17, hello, std::string("\x01\x00\x00\x00\x64xyz", 8));
  expect_error(17, 10001);
  expect_alive();
}

TEST_F(OddFrames, TrailingBytesAfterTheArguments) {
  send(0, v1, simple, 18, hello, hello_x + "\xff\xff");
  expect_hello(18);
}

TEST_F(OddFrames, NoPath) {
  send(0, v1, simple, 19, {hello[1]}, hello_x);
  expect_error(19, 404);
  expect_alive();
}

TEST_F(OddFrames, NoMetadata) {
  send(0, v1, simple, 20, {}, hello_x);
  expect_error(20, 404);
  expect_alive();
}

TEST_F(OddFrames, MetaServiceIsNotSupported) {  // both answer an empty map; 501 is what clients without it expect
  send(0, v1, simple, 21,
       {{"M_p", "com.weibo.api.motan.runtime.meta.MetaService"}, {"M_m", "getDynamicMeta"}, {"M_fws", "y"}}, "");
  EXPECT_NE(expect_error(21, 501).exception().find("service not support"), std::string::npos);
}

TEST_F(OddFrames, UnknownFrameworkService) {  // Java wraps its 501 into 10001
  send(0, v1, simple, 22, {{"M_p", "x.y"}, {"M_m", "z"}, {"M_fws", "y"}}, "");
  expect_error(22, 501);
}

TEST_F(OddFrames, CapitalisedMethod) {
  send(0, v1, simple, 23, {hello[0], {"M_m", "Hello"}}, hello_x);
  expect_hello(23);
}

TEST_F(OddFrames, OtherGroup) {
  send(0, v1, simple, 24, {hello[0], hello[1], {"M_g", "other"}, {"version", "1.0"}}, hello_x);
  expect_hello(24);
}

TEST_F(OddFrames, TwoPipelinedRequestsTheFirstSlow) {
  send(0, v1, simple, 25, {hello[0], {"M_m", "sleep"}}, std::string("\x08\xa0\x06", 3));  // 400 ms
  send(0, v1, simple, 26, hello, hello_x);
  expect_hello(26);
  const auto slow = peer_->receive();
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->id, 25u);
  EXPECT_EQ(slow->body, std::string("\x01\x00\x00\x00\x05slept", 10));
  EXPECT_GE(std::stoi(slow->metadata.at("M_pt")), 399);
}

TEST_F(OddFrames, UnknownService) {
  send(0, v1, simple, 30, {{"M_p", "com.weibo.NoSuchService"}, {"M_m", "hello"}}, hello_x);
  const std::string told = expect_error(30, 404).exception();
  EXPECT_NE(told.find("\"provider not exist serviceKey=/com.weibo.NoSuchService/: no service"), std::string::npos)
      << told;
}

TEST_F(OddFrames, UnknownMethod) {  // Java's code; Go says 500
  send(0, v1, simple, 31, {hello[0], {"M_m", "nosuch"}}, hello_x);
  EXPECT_NE(expect_error(31, 10101).exception().find("nosuch"), std::string::npos);
}

TEST_F(OddFrames, WrongArgumentType) {
  send(0, v1, simple, 32, {hello[0], {"M_m", "add"}}, std::string("\x01\x00\x00\x00\x08notanint\x09\x02", 15));
  EXPECT_NE(expect_error(32, 10001).exception().find("argument 1"), std::string::npos);
}

TEST_F(OddFrames, ThrowingProvider) {
  send(0, v1, simple, 33, {hello[0], {"M_m", "boom"}}, hello_x);
  const MotanFrame reply = expect_error(33, 30001);
  EXPECT_NE(reply.exception().find("boom x"), std::string::npos);
  EXPECT_NE(reply.exception().find("\"errtype\":2"), std::string::npos);
}

TEST_F(OddFrames, NothingAnswersNull) {
  send(0, v1, simple, 34, {hello[0], {"M_m", "nothing"}}, hello_x);
  const auto reply = peer_->receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, std::string(1, '\0'));
}

TEST_F(OddFrames, ResponseFromAClientCloses) {
  send(0x01, v1, simple, 35, hello, hello_x);
  EXPECT_TRUE(peer_->closed());
}

// Motan's clients send no heartbeats while all is well, and a server has none to send.
TEST(IdleMotanClient, IsNotTakenForDead) {
  AppOptions chosen = motan_server_options();
  chosen.server.heartbeat = std::chrono::milliseconds(20);
  chosen.server.heartbeat_misses = 2;
  auto server = start(std::move(chosen), {demo_service()});
  ASSERT_TRUE(server);
  MotanPeer peer(server->addresses().at(0));
  for (std::uint64_t id = 1; id <= 2; ++id) {
    ASSERT_TRUE(peer.send(raw_frame(0, v1, simple, id, metadata_text(hello), hello_x)));
    const auto reply = peer.receive();
    ASSERT_TRUE(reply) << "closed while idle";
    EXPECT_EQ(reply->body, answer_x);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

TEST_F(OddFrames, EveryOneOfManyBadFramesHurtsOnlyItsConnection) {
  MotanPeer good(server_->addresses().at(0));
  for (int round = 0; round < 50; ++round) {
    MotanPeer bad(server_->addresses().at(0));
    ASSERT_TRUE(bad.send(raw_frame(0, 0, simple, 1, "", "")));
    ASSERT_TRUE(bad.closed());
  }
  ASSERT_TRUE(good.send(raw_frame(0, v1, simple, 1, metadata_text(hello), hello_x)));
  const auto reply = good.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, answer_x);
  EXPECT_TRUE(eventually([&] { return idle(*server_); }));
}

}  // namespace
}  // namespace tenon::test
