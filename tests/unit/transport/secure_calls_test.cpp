// Whole calls between Apps over TLS and over unix sockets: real plugins.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/fault_proxy.hpp"
#include "support/test_apps.hpp"
#include "support/test_certificates.hpp"
#include "tls_options.hpp"

namespace tenon {
namespace {

using tls::TlsOptions;
using tls::Verify;

std::shared_ptr<Functions> echoer() {
  auto service = std::make_shared<Functions>("test.Echo");
  service->add("echo", [](const std::string& text) { return text; });
  return service;
}

using Echo = ClientFunction<std::string(std::string)>;

class SecureCalls : public testing::Test {
 protected:
  void SetUp() override {
    certificates_.issue("server", {"server", "DNS:localhost,IP:127.0.0.1"});
    certificates_.issue("client", {"client", ""});
  }
  TlsOptions serving(Verify verify) const {
    TlsOptions options;
    options.certificate = certificates_.pem("server");
    options.key = certificates_.key("server");
    options.ca = certificates_.ca;
    options.verify = verify;
    return options;
  }
  TlsOptions calling(const std::string& who) const {
    TlsOptions options;
    options.ca = certificates_.ca;
    if (who.empty()) return options;
    options.certificate = certificates_.pem(who);
    options.key = certificates_.key(who);
    return options;
  }
  std::unique_ptr<App> server(const TlsOptions& options) {
    AppOptions chosen = test::server_options();
    chosen.plugins.load.push_back("transport-tls");
    chosen.server.listen[0].transport = InlineComponent(Component::of("tls", options));
    return test::start(std::move(chosen), {echoer()});
  }
  std::unique_ptr<App> client(const TlsOptions& options, const std::string& address,
                              const std::string& transport = "") {
    AppOptions chosen = test::client_options("test.Echo", address);
    chosen.plugins.load.push_back("transport-tls");
    auto& reference = chosen.client.references["r"];
    reference.transport = transport.empty() ? Component::of("tls", options) : Component(transport);
    reference.timeout = std::chrono::seconds(2);
    return test::start(std::move(chosen));
  }
  test::TestCertificates certificates_{testing::TempDir()};
};

TEST_F(SecureCalls, WorkWithAndWithoutClientCertificates) {
  for (const Verify verify : {Verify::none, Verify::require}) {
    auto serving_app = server(serving(verify));
    ASSERT_TRUE(serving_app);
    auto calling_app = client(calling("client"), serving_app->addresses()[0]);
    ASSERT_TRUE(calling_app);
    const Echo echo(calling_app->reference("r"), "echo");
    for (const std::size_t size : {0u, 1u, 100u, 16383u, 16384u, 16385u, 300000u, 3000000u}) {
      const std::string text(size, 'x');
      const Result<std::string> answer = echo(text);
      ASSERT_TRUE(answer.ok()) << answer.error().text();
      EXPECT_TRUE(*answer == text) << size;
    }
  }
}

TEST_F(SecureCalls, FailWithASentenceWhenThePeerIsNotBelieved) {
  auto serving_app = server(serving(Verify::require));
  ASSERT_TRUE(serving_app);
  const std::string address = serving_app->addresses()[0];
  TlsOptions suspicious = calling("client");
  suspicious.ca = certificates_.other_ca;
  auto calling_app = client(suspicious, address);
  ASSERT_TRUE(calling_app);
  const Result<std::string> refused = Echo(calling_app->reference("r"), "echo")("x");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_NE(refused.error().text().find("not among those in ca"), std::string::npos) << refused.error().text();

  auto anonymous_app = client(calling(""), address);
  ASSERT_TRUE(anonymous_app);
  const Result<std::string> unknown = Echo(anonymous_app->reference("r"), "echo")("x");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code(), Errc::unavailable) << unknown.error().text();

  auto plain_app = client({}, address, "tcp");
  ASSERT_TRUE(plain_app);
  EXPECT_FALSE(Echo(plain_app->reference("r"), "echo")("x").ok());
}

TEST_F(SecureCalls, SurviveARelayThatCutsRecords) {
  auto serving_app = server(serving(Verify::require));
  ASSERT_TRUE(serving_app);
  for (const test::Faults& pieces : {test::one_byte(), test::sliced()}) {
    test::FaultProxy relay(serving_app->addresses()[0], test::both(pieces));
    auto calling_app = client(calling("client"), relay.address());
    ASSERT_TRUE(calling_app);
    const Echo echo(calling_app->reference("r"), "echo");
    for (const std::size_t size : {1u, 1000u, 20000u}) {
      const std::string text(size, 'y');
      const Result<std::string> answer = echo(text);
      ASSERT_TRUE(answer.ok()) << answer.error().text();
      EXPECT_TRUE(*answer == text);
    }
  }
}

TEST_F(SecureCalls, AManifestSaysItAll) {
  const std::string manifest = certificates_.folder.file("server.yaml");
  std::ofstream(manifest) << "application: server\n"
                             "plugins: { search: [" TENON_TEST_PLUGIN_DIR
                             "], load: [transport-tls, protocol-tenon, serialize-pb, serialize-json, cluster],"
                             " probe: false }\n"
                             "log: { level: error }\n"
                             "server:\n"
                             "  listen:\n"
                             "    - { use: tls, address: 127.0.0.1:0, protocols: [tenon], certificate: "
                          << certificates_.pem("server") << ", key: " << certificates_.key("server")
                          << ", ca: " << certificates_.ca
                          << ",\n        verify: require, min_version: 1.3, alpn: [tenon], reload: 10s,"
                             " handshake_timeout: 5s, keepalive: 10s }\n";
  auto made = App::from_manifest(manifest);
  ASSERT_TRUE(made.ok()) << made.error().text();
  (*made)->provide(echoer());
  const Result<void> started = (*made)->start();
  ASSERT_TRUE(started.ok()) << started.error().text();
  auto calling_app = client(calling("client"), (*made)->addresses()[0]);
  ASSERT_TRUE(calling_app);
  EXPECT_EQ(*Echo(calling_app->reference("r"), "echo")("hello"), "hello");
}

TEST_F(SecureCalls, GoOverUnixSockets) {
  const std::string file = certificates_.folder.file("echo.sock");
  for (const std::string& address : {"unix:" + file, "unix:@tenon-calls-" + std::to_string(::getpid())}) {
    auto serving_app = test::start(test::server_options("tcp", address), {echoer()});
    ASSERT_TRUE(serving_app);
    EXPECT_EQ(serving_app->addresses()[0], address);
    auto calling_app = test::start(test::client_options("test.Echo", address));
    ASSERT_TRUE(calling_app);
    const Echo echo(calling_app->reference("r"), "echo");
    for (const std::size_t size : {1u, 3000000u}) {
      const std::string text(size, 'z');
      const Result<std::string> answer = echo(text);
      ASSERT_TRUE(answer.ok()) << answer.error().text();
      EXPECT_TRUE(*answer == text);
    }
    EXPECT_TRUE(serving_app->stop(std::chrono::seconds(1)));
    EXPECT_NE(::access(file.c_str(), F_OK), 0);
  }
}

}  // namespace
}  // namespace tenon
