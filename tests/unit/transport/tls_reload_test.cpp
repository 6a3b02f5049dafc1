// Certificate files: what is wrong with them at the start, and how they change while the process runs.
#include "tls_fixture.hpp"

namespace tenon::tls {
namespace {

class TlsFiles : public TlsTest {
 protected:
  std::string fault(const TlsOptions& options) {
    auto made = TlsTransport::create(options, Environment{server_, log_, server_.clock()});
    EXPECT_FALSE(made.ok());
    if (made.ok()) return {};
    EXPECT_EQ(made.error().code(), Errc::config);
    return made.error().text();
  }
  std::string file(const std::string& name) const { return certificates_.folder.file(name); }
};

TEST_F(TlsFiles, NewFilesServeNewConnections) {
  TlsOptions options = server_options();
  options.reload = 1ms;
  serve(options);
  ForeignClient slow(address_);  // its handshake begins with the old files and ends later
  auto old = connect(client_options());
  ASSERT_TRUE(old.ok());
  EXPECT_EQ((*old)->info().identity, "server");
  certificates_.issue("server", {"server of tomorrow", "IP:127.0.0.1"});
  std::this_thread::sleep_for(2ms);  // the period of looking
  auto fresh = connect(client_options());
  ASSERT_TRUE(fresh.ok()) << fresh.error().text();
  EXPECT_EQ((*fresh)->info().identity, "server of tomorrow");
  EXPECT_TRUE(logged("certificate files changed and are in use for new connections: " + certificates_.pem("server")));
  EXPECT_EQ(echo(*fresh).bytes, "hello");
  EXPECT_EQ(echo(*old).bytes, "hello");
  const unsigned char offered[] = "\5tenon";
  ASSERT_EQ(SSL_set_alpn_protos(slow.ssl(), offered, 6), 0);
  ASSERT_TRUE(slow.handshake());
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(slow.ssl(), &chosen, &size);
  EXPECT_EQ(size, 5u);
  EXPECT_TRUE(slow.send("hi"));
  EXPECT_EQ(slow.receive(2), "hi");
  drop(*old);
  drop(*fresh);
}

TEST_F(TlsFiles, BrokenNewFilesChangeNothing) {
  TlsOptions options = server_options();
  options.reload = 1ms;
  serve(options);
  const std::string good = test::Certificate({"good", "IP:127.0.0.1"}, &certificates_.authority).text();
  const auto served = [&] {
    std::this_thread::sleep_for(2ms);
    auto stream = connect(client_options());
    EXPECT_TRUE(stream.ok());
    if (!stream.ok()) return stream.error().text();
    std::string identity = (*stream)->info().identity;
    drop(*stream);
    return identity;
  };
  test::write_file(certificates_.pem("server"), "not a certificate\n");
  EXPECT_EQ(served(), "server");
  EXPECT_EQ(served(), "server");
  EXPECT_EQ(log_.count("certificate " + certificates_.pem("server") + ": holds no usable PEM certificate"), 1u);
  test::write_file(certificates_.pem("server"), good);  // not the key's
  EXPECT_EQ(served(), "server");
  EXPECT_EQ(log_.count("does not belong to certificate"), 1u);
  std::filesystem::remove(certificates_.pem("server"));
  EXPECT_EQ(served(), "server");
  EXPECT_EQ(log_.count("no such file or directory; new connections go on with what was read before"), 1u);
  certificates_.issue("server", {"repaired", "IP:127.0.0.1"});
  EXPECT_EQ(served(), "repaired");
}

TEST_F(TlsFiles, WhoIsBelievedMayChange) {
  TlsOptions options = strict_options();
  options.reload = 1ms;
  serve(options);
  certificates_.issue("stranger", {"stranger", ""}, &certificates_.other);
  test::write_file(certificates_.ca, certificates_.authority.text() + certificates_.other.text());
  std::this_thread::sleep_for(2ms);
  auto stream = connect(client_options("stranger"));
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(echo(*stream).bytes, "hello");
  EXPECT_EQ(identities(), std::vector<std::string>{"stranger"});
  drop(*stream);
}

TEST_F(TlsFiles, ZeroNeverLooks) {
  TlsOptions options = server_options();
  options.reload = 0ms;
  serve(options);
  certificates_.issue("server", {"unseen", "IP:127.0.0.1"});
  auto stream = connect(client_options());
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ((*stream)->info().identity, "server");
  drop(*stream);
}

TEST_F(TlsFiles, FaultsAreNamedAtTheStart) {
  TlsOptions options = server_options();
  options.certificate = file("none.pem");
  EXPECT_EQ(fault(options), "certificate " + file("none.pem") + ": no such file or directory");
  options = server_options();
  options.key = file("none.key");
  EXPECT_EQ(fault(options), "key " + file("none.key") + ": no such file or directory");
  options = server_options();
  options.ca = file("none-ca.pem");
  EXPECT_EQ(fault(options), "ca " + file("none-ca.pem") + ": no such file or directory");
  options.ca = file("");
  EXPECT_EQ(fault(options), "ca " + file("") + ": is no file");

  options = server_options();
  options.key = certificates_.key("client");
  EXPECT_EQ(fault(options),
            "key " + certificates_.key("client") + " does not belong to certificate " + certificates_.pem("server"));
  options = server_options();
  options.certificate = certificates_.key("server");
  EXPECT_EQ(fault(options).rfind("certificate " + options.certificate + ": holds no usable PEM certificate (", 0), 0u);
  options = server_options();
  options.key = certificates_.pem("server");
  EXPECT_EQ(fault(options).rfind("key " + options.key + ": holds no usable PEM private key (", 0), 0u);
  options = client_options();
  options.ca = certificates_.key("server");
  EXPECT_EQ(fault(options).rfind("ca " + options.ca + ": holds no usable PEM certificate (", 0), 0u);

  options = server_options();
  options.key = file("locked.key");
  test::write_file(options.key, certificates_.authority.key_text("1234"));
  EXPECT_EQ(fault(options).rfind("key " + options.key + ": is encrypted; write it without a passphrase", 0), 0u);
  test::write_file(options.key, std::string(2u << 20, 'x'));
  EXPECT_EQ(fault(options), "key " + options.key + ": has more than 1 MiB; is it the right file?");
}

TEST_F(TlsFiles, OptionsThatMakeNoSenseAreRefused) {
  TlsOptions options = server_options();
  options.key.clear();
  EXPECT_EQ(fault(options), "certificate is set, but key is not");
  options = server_options();
  options.certificate.clear();
  EXPECT_EQ(fault(options), "key is set, but certificate is not");
  options = {};
  options.min_version = "1.1";
  EXPECT_EQ(fault(options), "min_version '1.1' is neither 1.2 nor 1.3");
  options = {};
  options.ciphers = "NO-SUCH-CIPHER";
  EXPECT_EQ(fault(options).rfind("ciphers 'NO-SUCH-CIPHER': ", 0), 0u);
  options = {};
  options.alpn = {""};
  EXPECT_EQ(fault(options), "alpn: a protocol's name has 1 to 255 bytes");
  options = {};
  options.alpn = {std::string(256, 'a')};
  EXPECT_EQ(fault(options), "alpn: a protocol's name has 1 to 255 bytes");
  options = {};
  options.handshake_timeout = 0ms;
  EXPECT_EQ(fault(options), "handshake_timeout must be more than 0");
  options = {};
  options.max_handshakes = 0;
  EXPECT_EQ(fault(options), "max_handshakes is 0; no connection could be accepted");
  options = {};
  options.backlog = 0;
  EXPECT_EQ(fault(options), "backlog is 0; no connection could be accepted");
  options = {};
  options.reload = -1s;
  EXPECT_EQ(fault(options), "reload is negative");
}

TEST_F(TlsFiles, ListeningNeedsMoreThanConnecting) {
  const auto refusal = [this](const TlsOptions& options) {
    const auto transport = make(options);
    const auto refused = server_.call([&] { return transport->listen("127.0.0.1:0", server_); });
    EXPECT_FALSE(refused.ok());
    return refused.ok() ? std::string() : refused.error().text();
  };
  EXPECT_EQ(refusal(client_options()), "127.0.0.1:0: listening with TLS needs certificate and key");
  TlsOptions options = server_options();
  options.verify = Verify::require;
  EXPECT_EQ(refusal(options), "127.0.0.1:0: verify asks peers for certificates; say in ca whose are believed");
  const auto transport = make(client_options());
  EXPECT_NE(transport->check("unix:/run/a.sock").error().text().find("use transport tcp"), std::string::npos);
  EXPECT_EQ(transport->check("localhost").error().code(), Errc::config);
  EXPECT_TRUE(transport->check("localhost:1").ok());
}

TEST_F(TlsFiles, ChosenCiphersAreUsed) {
  TlsOptions options = server_options();
  options.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384:TLS_CHACHA20_POLY1305_SHA256";
  serve(options);
  ForeignClient newer(address_);
  ASSERT_TRUE(newer.handshake());
  EXPECT_STREQ(SSL_get_cipher_name(newer.ssl()), "TLS_CHACHA20_POLY1305_SHA256");
  ForeignClient older(address_, TLS1_2_VERSION);
  ASSERT_TRUE(older.handshake());
  EXPECT_STREQ(SSL_get_cipher_name(older.ssl()), "ECDHE-ECDSA-AES256-GCM-SHA384");
}

}  // namespace
}  // namespace tenon::tls
