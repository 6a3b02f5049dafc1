#pragma once
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "address.hpp"
#include "socket.hpp"
#include "support/descriptors.hpp"
#include "support/recording_log.hpp"
#include "support/stream_tasks.hpp"
#include "support/test_certificates.hpp"
#include "support/test_executor.hpp"
#include "tenon/scope.hpp"
#include "tls_transport.hpp"

namespace tenon::tls {

using namespace std::chrono_literals;

/// A client written with OpenSSL alone, blocking, each wait at most two seconds.
class ForeignClient {
 public:
  explicit ForeignClient(const std::string& address, int version = TLS1_3_VERSION)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free),
        ssl_(nullptr, &SSL_free) {
    const timeval limit{2, 0};
    (void)::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const int on = 1;
    (void)::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const auto to = tcp::literal_address(*tcp::parse_address(address));
    EXPECT_EQ(::connect(fd_.get(), to->get(), to->size), 0);
    // Versions below 1.2 need a lower security level to be offered at all.
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), fd_.get());
  }
  bool handshake() { return SSL_connect(ssl_.get()) == 1; }
  SSL* ssl() const noexcept { return ssl_.get(); }
  int fd() const noexcept { return fd_.get(); }
  bool send(const std::string& text) {
    return SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) == static_cast<int>(text.size());
  }
  std::string receive(std::size_t size) {
    std::string text(size, '\0');
    std::size_t got = 0;
    while (got < size) {
      const int more = SSL_read(ssl_.get(), text.data() + got, static_cast<int>(size - got));
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    ERR_clear_error();
    return text.substr(0, got);
  }

 private:
  tcp::Fd fd_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
};

/// Certificates, a listening transport on one executor, connections from another.
class TlsTest : public testing::Test {
 protected:
  using Stream = std::unique_ptr<ByteStream>;

  void SetUp() override {
    certificates_.issue("server", {"server", "DNS:localhost,IP:127.0.0.1"});
    certificates_.issue("client", {"client one", ""});
  }
  void TearDown() override { stop(); }

  TlsOptions server_options(const std::string& name = "server") const {
    TlsOptions options;
    options.certificate = certificates_.pem(name);
    options.key = certificates_.key(name);
    return options;
  }
  /// Asks for certificates.
  TlsOptions strict_options(Verify verify = Verify::require) const {
    TlsOptions options = server_options();
    options.ca = certificates_.ca;
    options.verify = verify;
    return options;
  }
  TlsOptions client_options(const std::string& name = "") const {
    TlsOptions options;
    options.ca = certificates_.ca;
    if (name.empty()) return options;
    options.certificate = certificates_.pem(name);
    options.key = certificates_.key(name);
    return options;
  }
  std::unique_ptr<TlsTransport> make(const TlsOptions& options) {
    auto made = TlsTransport::create(options, Environment{server_, log_, server_.clock()});
    EXPECT_TRUE(made.ok()) << made.error().text();
    return made.ok() ? std::move(*made) : nullptr;
  }
  /// Listens, and echoes on whatever is accepted.
  void serve(const TlsOptions& options) {
    listening_ = make(options);
    ASSERT_TRUE(listening_);
    auto listener = server_.call([&] { return listening_->listen("127.0.0.1:0", server_); });
    ASSERT_TRUE(listener.ok()) << listener.error().text();
    listener_ = std::move(*listener);
    address_ = listener_->address();
    port_ = address_.substr(address_.rfind(':'));
    accepting_ = std::thread([this] { accept_all(); });
  }
  void stop() {
    if (listener_) server_.call([&] { listener_->close(); });
    if (accepting_.joinable()) accepting_.join();
    server_.call([&] { listener_.reset(); });
    server_.run([&]() -> Task<int> {
      auto joining = echoes_.join();
      co_await joining;
      co_return 0;
    });
  }
  Result<Stream> connect(const TlsTransport& transport, const std::string& address, Duration time = 10s) {
    return client_.run([&] { return transport.connect(address, client_, std::chrono::steady_clock::now() + time); });
  }
  Result<Stream> connect(const TlsOptions& options, const std::string& address, Duration time = 10s) {
    const auto transport = make(options);
    return connect(*transport, address, time);
  }
  Result<Stream> connect(const TlsOptions& options) { return connect(options, address_); }
  /// Sends a text and reads it back. How reading ended: done when it came back.
  test::ReadAll echo(Stream& stream, const std::string& text = "hello") {
    (void)client_.run([&] { return test::write_all(*stream, text); });
    return client_.run([&] { return test::read_all(*stream, text.size()); });
  }
  void drop(Stream& stream) {
    client_.call([&] { stream.reset(); });
  }
  static bool eventually(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }
  bool logged(const std::string& text) {
    const bool found = eventually([&] { return log_.count(text) > 0; });
    if (!found)
      for (const std::string& line : log_.lines()) ADD_FAILURE() << "logged: " << line;
    return found;
  }
  std::vector<std::string> identities() {
    return server_.call([&] { return identities_; });
  }

  test::TestCertificates certificates_{testing::TempDir()};
  test::RecordingLog log_;
  test::TestExecutor client_;
  test::TestExecutor server_;
  std::unique_ptr<TlsTransport> listening_;
  std::unique_ptr<Listener> listener_;
  std::string address_;
  std::string port_;
  std::atomic<int> accepted_{0};

 private:
  void accept_all() {
    while (true) {
      auto stream = server_.run([&] { return listener_->accept(server_); });
      if (!stream.ok()) return;
      server_.call([&] {
        identities_.push_back((*stream)->info().identity);
        echoes_.spawn(test::echo(std::move(*stream)));
      });
      ++accepted_;
    }
  }
  Scope echoes_;
  std::vector<std::string> identities_;
  std::thread accepting_;
};

}  // namespace tenon::tls
