// Whose certificates are believed, and what is said of those that are not.
#include "tls_fixture.hpp"

namespace tenon::tls {
namespace {

class TlsVerify : public TlsTest {
 protected:
  /// Why the client does not connect.
  std::string refusal(const TlsOptions& options, const std::string& address) {
    const auto refused = connect(options, address);
    EXPECT_FALSE(refused.ok());
    if (refused.ok()) return {};
    EXPECT_EQ(refused.error().code(), Errc::unavailable);
    EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
    EXPECT_EQ(refused.error().text().rfind(address + ": TLS handshake failed: ", 0), 0u) << refused.error().text();
    return refused.error().text();
  }
  std::string refusal() { return refusal(client_options(), address_); }
  static bool has(const std::string& text, const std::string& part) {
    const bool found = text.find(part) != std::string::npos;
    if (!found) ADD_FAILURE() << text;
    return found;
  }
};

TEST_F(TlsVerify, BothSidesKnowEachOther) {
  serve(strict_options());
  auto stream = connect(client_options("client"), "localhost" + port_);
  ASSERT_TRUE(stream.ok()) << stream.error().text();
  EXPECT_TRUE((*stream)->info().secure);
  EXPECT_EQ((*stream)->info().identity, "server");
  EXPECT_EQ((*stream)->negotiated(), "tenon");
  EXPECT_EQ(echo(*stream).bytes, "hello");
  EXPECT_EQ(identities(), std::vector<std::string>{"client one"});
  drop(*stream);
}

TEST_F(TlsVerify, ANameWithoutACommonNameIsItsFirstAlternative) {
  certificates_.issue("nameless", {"", "DNS:node7.example,IP:127.0.0.1"});
  serve(strict_options());
  auto stream = connect(client_options("nameless"));
  ASSERT_TRUE(stream.ok()) << stream.error().text();
  EXPECT_EQ(echo(*stream).bytes, "hello");
  EXPECT_EQ(identities(), std::vector<std::string>{"node7.example"});
  drop(*stream);
}

TEST_F(TlsVerify, AControlCharacterIsNoName) {
  certificates_.issue("odd", {"admin\nforged", "DNS:node8.example"});
  serve(strict_options());
  auto stream = connect(client_options("odd"));
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(echo(*stream).bytes, "hello");
  EXPECT_EQ(identities(), std::vector<std::string>{"node8.example"});
  drop(*stream);
}

TEST_F(TlsVerify, WithoutVerifyingAnyoneIsReachedAndNobodyKnown) {
  certificates_.write("self", test::Certificate({"self", "DNS:elsewhere"}));
  serve(server_options("self"));
  TlsOptions options;
  options.verify = Verify::none;
  auto stream = connect(options);
  ASSERT_TRUE(stream.ok()) << stream.error().text();
  EXPECT_TRUE((*stream)->info().secure);
  EXPECT_EQ((*stream)->info().identity, "");
  EXPECT_EQ(echo(*stream).bytes, "hello");
  EXPECT_EQ(identities(), std::vector<std::string>{""});
  drop(*stream);
}

TEST_F(TlsVerify, RefusesAnExpiredServer) {
  certificates_.issue("expired", {"expired", "IP:127.0.0.1", -30, -2});
  serve(server_options("expired"));
  const std::string text = refusal();
  EXPECT_TRUE(has(text, "certificate of " + address_ + " has expired (notAfter "));
  EXPECT_TRUE(has(text, " GMT)"));
  EXPECT_EQ(log_.count("has expired"), 1u) << "the server knows it, too";
}

TEST_F(TlsVerify, RefusesAServerOfTomorrow) {
  certificates_.issue("early", {"early", "IP:127.0.0.1", 2, 30});
  serve(server_options("early"));
  EXPECT_TRUE(has(refusal(), "certificate of " + address_ + " is not valid yet (notBefore "));
}

TEST_F(TlsVerify, RefusesAnotherHost) {
  certificates_.issue("elsewhere", {"elsewhere", "DNS:elsewhere.example,IP:10.0.0.1"});
  serve(server_options("elsewhere"));
  EXPECT_TRUE(has(refusal(), "is not valid for host 127.0.0.1, only for elsewhere.example, 10.0.0.1"));
  EXPECT_TRUE(has(refusal(client_options(), "localhost" + port_), "is not valid for host localhost, only for "));
  TlsOptions options = client_options();
  for (const char* name : {"elsewhere.example", "10.0.0.1"}) {
    options.server_name = name;
    auto stream = connect(options);
    ASSERT_TRUE(stream.ok()) << stream.error().text();
    drop(*stream);
  }
  options.server_name = std::string(300, 'a');
  EXPECT_TRUE(has(connect(options).error().text(), "cannot be the name in a certificate"));
}

TEST_F(TlsVerify, RefusesSelfSignedServers) {
  certificates_.write("self", test::Certificate({"self", "IP:127.0.0.1"}));
  serve(server_options("self"));
  EXPECT_TRUE(has(refusal(), "certificate of " + address_ + " is self-signed"));
}

TEST_F(TlsVerify, RefusesAChainThatEndsElsewhere) {
  const test::Certificate leaf({"leaf", "IP:127.0.0.1"}, &certificates_.other);
  certificates_.write("leaf", leaf);
  serve(server_options("leaf"));
  EXPECT_TRUE(has(refusal(), "was issued by 'Other CA', who is not among those in ca"));
  stop();
  test::write_file(certificates_.pem("leaf"), leaf.text() + certificates_.other.text());
  serve(server_options("leaf"));
  EXPECT_TRUE(has(refusal(), "self-signed certificate in chain: its authority 'Other CA'"));
}

TEST_F(TlsVerify, TheSystemsAuthoritiesAreAskedWithoutACa) {
  serve(server_options());
  EXPECT_TRUE(has(refusal(TlsOptions(), address_), "not among those in ca"));
}

TEST_F(TlsVerify, RefusesAClientWithoutACertificate) {
  serve(strict_options());
  auto stream = connect(client_options());
  // In TLS 1.3 a client is through before the server has looked at it; it hears of the refusal afterwards.
  ASSERT_TRUE(stream.ok()) << stream.error().text();
  const test::ReadAll read = echo(*stream);
  EXPECT_EQ(read.last, IoResult::Status::failed);
  EXPECT_EQ(read.error, EACCES);
  EXPECT_TRUE(logged("failed: peer sent no certificate, and verify is 'require'"));
  EXPECT_TRUE(logged("alert 'certificate required': it asks for a certificate; set certificate and key"));
  EXPECT_EQ(accepted_, 0);
  drop(*stream);
}

TEST_F(TlsVerify, RefusesAClientOfAnotherAuthority) {
  certificates_.issue("stranger", {"stranger", ""}, &certificates_.other);
  for (const Verify verify : {Verify::require, Verify::optional}) {
    serve(strict_options(verify));
    auto stream = connect(client_options("stranger"));
    ASSERT_TRUE(stream.ok()) << stream.error().text();
    const test::ReadAll read = echo(*stream);
    EXPECT_EQ(read.last, IoResult::Status::failed);
    EXPECT_EQ(read.error, EACCES);
    EXPECT_TRUE(logged(" was issued by 'Other CA', who is not among those in ca"));
    EXPECT_TRUE(logged("alert 'unknown CA': it does not know who issued our certificate"));
    EXPECT_EQ(accepted_, 0);
    drop(*stream);
    stop();
  }
}

TEST_F(TlsVerify, AnOptionalCertificateMayBeMissing) {
  serve(strict_options(Verify::optional));
  for (const char* who : {"", "client"}) {
    auto stream = connect(client_options(who));
    ASSERT_TRUE(stream.ok());
    EXPECT_EQ(echo(*stream).bytes, "hello");
    drop(*stream);
  }
  EXPECT_EQ(identities(), (std::vector<std::string>{"", "client one"}));
}

TEST_F(TlsVerify, ProtocolsAreAgreedOn) {
  TlsOptions options = server_options();
  options.alpn = {"b", "tenon", "a"};
  serve(options);
  struct Case {
    std::vector<std::string> offered;
    const char* chosen;
  };
  // The listener's order counts; without an agreement the connection goes on.
  for (const Case& c : {Case{{"tenon", "b"}, "b"}, Case{{"a", "tenon"}, "tenon"}, Case{{"h2"}, ""}, Case{{}, ""}}) {
    TlsOptions client = client_options();
    client.alpn = c.offered;
    auto stream = connect(client);
    ASSERT_TRUE(stream.ok()) << stream.error().text();
    EXPECT_EQ((*stream)->negotiated(), c.chosen);
    EXPECT_EQ(echo(*stream).bytes, "hello");
    drop(*stream);
  }
}

}  // namespace
}  // namespace tenon::tls
