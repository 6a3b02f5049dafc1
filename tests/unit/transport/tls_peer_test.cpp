// Peers that are slow, silent, speak something else, or break the rules.
#include <cstring>

#include "support/raw_socket.hpp"
#include "support/fault_proxy.hpp"
#include "tls_fixture.hpp"

namespace tenon::tls {
namespace {

class TlsPeer : public TlsTest {
 protected:
  /// A good client gets through, whatever the others do.
  void expect_service() {
    auto stream = connect(client_options());
    ASSERT_TRUE(stream.ok()) << stream.error().text();
    EXPECT_EQ(echo(*stream).bytes, "hello");
    drop(*stream);
  }
};

/// Listens in plain TCP; answers the first connection's first bytes with `answer`, or never.
class PlainServer {
 public:
  explicit PlainServer(std::string answer = "") : fd_(tcp::open_socket(AF_INET)), answer_(std::move(answer)) {
    const tcp::SocketAddress any = *tcp::literal_address(*tcp::parse_address("127.0.0.1:0"));
    EXPECT_EQ(::bind(fd_.get(), any.get(), any.size), 0);
    EXPECT_EQ(::listen(fd_.get(), 16), 0);
    address_ = tcp::to_text(tcp::local_address(fd_.get()));
    if (!answer_.empty()) thread_ = std::thread([this] { serve(); });
  }
  ~PlainServer() {
    if (thread_.joinable()) thread_.join();
  }
  const std::string& address() const { return address_; }

 private:
  void serve() {
    pollfd ready{fd_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 5000) != 1) return;
    const tcp::Fd peer(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char buffer[4096];
    if (::recv(peer.get(), buffer, sizeof buffer, 0) > 0)
      (void)::send(peer.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
  }
  tcp::Fd fd_;
  const std::string answer_;
  std::string address_;
  std::thread thread_;
};

TEST_F(TlsPeer, ASilentClientIsDroppedAndDelaysNobody) {
  TlsOptions options = server_options();
  options.handshake_timeout = 400ms;
  serve(options);
  test::RawSocket silent(address_);
  test::RawSocket half(address_);
  ASSERT_TRUE(half.send(std::string("\x16\x03\x01\x02\x00", 5)));
  const auto start = std::chrono::steady_clock::now();
  expect_service();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 350ms);
  EXPECT_TRUE(silent.closed_within(3000));
  EXPECT_TRUE(half.closed_within(3000));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 390ms);
  EXPECT_TRUE(logged(" not finished within 400 ms (it said nothing); dropped"));
  EXPECT_TRUE(logged(" not finished within 400 ms (it said too little); dropped"));
}

TEST_F(TlsPeer, HandshakesUnderWayAreBounded) {
  TlsOptions options = server_options();
  options.max_handshakes = 4;
  options.handshake_timeout = 60s;
  serve(options);
  const std::size_t before = test::open_descriptors();
  std::vector<std::unique_ptr<test::RawSocket>> silent;
  for (int i = 0; i < 50; ++i) silent.push_back(std::make_unique<test::RawSocket>(address_));
  EXPECT_TRUE(eventually([&] { return log_.count("the oldest, of 127.0.0.1:") == 46; }));
  EXPECT_EQ(test::open_descriptors(), before + 50 + 4);
  expect_service();
}

TEST_F(TlsPeer, ASilentServerIsGivenUp) {
  const PlainServer silent;
  const std::size_t before = test::open_descriptors();
  const auto late = connect(client_options(), silent.address(), 150ms);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Errc::deadline_exceeded);
  EXPECT_EQ(late.error().delivery(), Delivery::not_run);
  EXPECT_NE(late.error().text().find(" ms (the server said nothing; does it speak TLS?)"), std::string::npos)
      << late.error().text();
  TlsOptions options = client_options();
  options.handshake_timeout = 100ms;
  const auto impatient = connect(options, silent.address());
  ASSERT_FALSE(impatient.ok());
  EXPECT_EQ(impatient.error().code(), Errc::unavailable);
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST_F(TlsPeer, PlainTextToATlsPortIsNamed) {
  serve(server_options());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "plain-text peer? it sent 'GET / HT'"},
      {std::string("tenon\0\0\1", 8) + std::string(40, '\x1b'), "plain-text peer? it sent 'tenon...'"},
      {std::string("\xf1\xf1\0\0", 4) + std::string(60, '\0'), "plain-text peer? it sent '........'"}};
  for (const auto& [bytes, text] : cases) {
    test::RawSocket plain(address_);
    ASSERT_TRUE(plain.send(bytes));
    EXPECT_TRUE(plain.closed_within(3000));
    EXPECT_TRUE(logged(text));
  }
  { const test::RawSocket scan(address_); }
  expect_service();
  EXPECT_EQ(log_.count("tls-handshake"), cases.size()) << "a port scan is no news";
}

TEST_F(TlsPeer, ATlsClientOnAPlainPortIsTold) {
  const PlainServer http("HTTP/1.1 400 Bad Request\r\n\r\n");
  const auto refused = connect(client_options(), http.address());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), http.address() + ": TLS handshake failed: plain-text peer? it answered 'HTTP/1.1'");
}

TEST_F(TlsPeer, GarbageAfterTheHandshakeEndsTheConnection) {
  serve(server_options());
  ForeignClient garbled(address_);
  ASSERT_TRUE(garbled.handshake());
  ASSERT_TRUE(garbled.send("hi"));
  EXPECT_EQ(garbled.receive(2), "hi");
  const std::string record("\x17\x03\x03\x00\x20", 5);
  const std::string garbage = record + std::string(32, 'x');
  ASSERT_EQ(::send(garbled.fd(), garbage.data(), garbage.size(), MSG_NOSIGNAL), static_cast<ssize_t>(garbage.size()));
  EXPECT_TRUE(logged("bytes were changed or made up on the way"));
  EXPECT_EQ(garbled.receive(1), "");
  ForeignClient noise(address_);
  ASSERT_TRUE(noise.handshake());
  ASSERT_EQ(::send(noise.fd(), "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 16);
  EXPECT_EQ(noise.receive(1), "");
  expect_service();
}

TEST_F(TlsPeer, OldVersionsAreRefused) {
  serve(server_options());
  {
    ForeignClient old(address_, TLS1_1_VERSION);
    EXPECT_FALSE(old.handshake());
    EXPECT_TRUE(logged("the peer speaks only versions of TLS below min_version"));
    ForeignClient enough(address_, TLS1_2_VERSION);
    EXPECT_TRUE(enough.handshake());
    EXPECT_TRUE(enough.send("hi"));
    EXPECT_EQ(enough.receive(2), "hi");
    EXPECT_STREQ(SSL_get_version(enough.ssl()), "TLSv1.2");
    EXPECT_EQ(SSL_get_current_compression(enough.ssl()), nullptr);
  }
  stop();
  TlsOptions options = server_options();
  options.min_version = "1.3";
  serve(options);
  ForeignClient behind(address_, TLS1_2_VERSION);
  EXPECT_FALSE(behind.handshake());
}

TEST_F(TlsPeer, RenegotiationIsRefused) {
  serve(server_options());
  ForeignClient again(address_, TLS1_2_VERSION);
  ASSERT_TRUE(again.handshake());
  ASSERT_EQ(SSL_renegotiate(again.ssl()), 1);
  EXPECT_NE(SSL_do_handshake(again.ssl()), 1);
  expect_service();
}

TEST_F(TlsPeer, KeyUpdatesAreAnswered) {
  serve(server_options());
  ForeignClient client(address_);
  ASSERT_TRUE(client.handshake());
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_TRUE(client.send("hi"));
    ASSERT_EQ(client.receive(2), "hi");
  }
}

TEST_F(TlsPeer, ATruncatedConnectionIsAnEnd) {
  serve(server_options());
  auto client = std::make_unique<ForeignClient>(address_);
  ASSERT_TRUE(client->handshake());
  ASSERT_TRUE(client->send("hi"));
  EXPECT_EQ(client->receive(2), "hi");
  SSL_set_quiet_shutdown(client->ssl(), 1);
  client.reset();
  stop();  // waits for the echo to end
  EXPECT_EQ(log_.count("tls:"), 0u);
}

TEST_F(TlsPeer, SurvivesARelayThatTearsRecordsApart) {
  serve(strict_options());
  for (const test::Faults& pieces : {test::one_byte(), test::sliced()}) {
    test::FaultProxy relay(address_, test::both(pieces));
    auto stream = connect(client_options("client"), relay.address());
    ASSERT_TRUE(stream.ok()) << stream.error().text();
    std::string text(40000, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 256);
    const test::ReadAll read = echo(*stream, text);
    EXPECT_TRUE(read.bytes == text);
    drop(*stream);
  }
}

TEST_F(TlsPeer, WhatWasWrittenArrivesAlthoughTheWriterHasGone) {
  TlsOptions options = server_options();
  options.send_buffer = ByteSize(8192);
  const auto transport = make(options);
  auto listener = server_.call([&] { return transport->listen("127.0.0.1:0", server_); });
  ASSERT_TRUE(listener.ok());
  TlsOptions cramped = client_options();
  cramped.receive_buffer = ByteSize(8192);
  auto client = connect(cramped, (*listener)->address());
  auto server = server_.run([&] { return (*listener)->accept(server_); });
  ASSERT_TRUE(client.ok() && server.ok());
  const std::string bytes(10000, 'x');
  const std::size_t taken = server_.call([&] {
    std::size_t total = 0;
    const std::string_view part = bytes;
    while (true) {
      const IoResult put = (*server)->try_write({&part, 1});
      if (put.status != IoResult::Status::done) break;
      total += put.bytes;
    }
    server->reset();
    listener->reset();
    return total;
  });
  const test::ReadAll read = client_.run([&] { return test::read_all(**client); });
  EXPECT_GT(taken, bytes.size());
  EXPECT_EQ(read.bytes.size(), taken);
  EXPECT_EQ(read.last, IoResult::Status::end);
  drop(*client);
}

TEST_F(TlsPeer, FailedHandshakesLeaveNoDescriptor) {
  certificates_.write("self", test::Certificate({"self", "IP:127.0.0.1"}));
  serve(server_options("self"));
  const auto transport = make(client_options());
  (void)connect(*transport, address_);
  const std::size_t before = test::open_descriptors();
  for (int i = 0; i < 300; ++i) EXPECT_FALSE(connect(*transport, address_).ok());
  EXPECT_TRUE(eventually([&] { return test::open_descriptors() == before; })) << test::open_descriptors() << before;
}

TEST_F(TlsPeer, AListenerClosesInTheMiddleOfHandshakes) {
  serve(server_options());
  std::vector<std::unique_ptr<test::RawSocket>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<test::RawSocket>(address_));
  expect_service();
  stop();
  for (const auto& socket : silent) EXPECT_TRUE(socket->closed_within(3000));
}

}  // namespace
}  // namespace tenon::tls
