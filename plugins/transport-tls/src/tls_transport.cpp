#include "tls_transport.hpp"

#include <algorithm>

#include "engine.hpp"
#include "handshake.hpp"
#include "tls_listener.hpp"
#include "tls_stream.hpp"
#include "unix_address.hpp"

namespace tenon::tls {

namespace {

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

Result<void> check_options(const TlsOptions& options) {
  if (auto sound = tcp::check(options); !sound.ok()) return sound;
  if (options.certificate.empty() != options.key.empty())
    return refuse(options.key.empty() ? "certificate is set, but key is not" : "key is set, but certificate is not");
  if (options.min_version != "1.2" && options.min_version != "1.3")
    return refuse("min_version '" + options.min_version.substr(0, 40) + "' is neither 1.2 nor 1.3");
  std::size_t names = 0;
  for (const std::string& name : options.alpn) {
    if (name.empty() || name.size() > 255) return refuse("alpn: a protocol's name has 1 to 255 bytes");
    names += name.size() + 1;
  }
  if (names > 1024) return refuse("alpn: the names have more than 1024 bytes together");
  if (options.reload.count() < 0) return refuse("reload is negative");
  if (options.handshake_timeout.count() <= 0) return refuse("handshake_timeout must be more than 0");
  if (options.max_handshakes == 0) return refuse("max_handshakes is 0; no connection could be accepted");
  return {};
}

std::string ms(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

Result<std::unique_ptr<TlsTransport>> TlsTransport::create(Options options, Environment environment) {
  if (auto sound = check_options(options); !sound.ok()) return std::move(sound).error();
  tcp::TcpOptions sockets;
  static_cast<tcp::SocketOptions&>(sockets) = options;
  auto tcp = tcp::TcpTransport::create(sockets, environment);
  if (!tcp.ok()) return std::move(tcp).error();
  auto store = CredentialStore::open(options, environment.log);
  if (!store.ok()) return std::move(store).error();
  return std::unique_ptr<TlsTransport>(
      new TlsTransport(std::move(options), std::move(*tcp), std::move(*store), environment.log));
}

Result<void> TlsTransport::check(std::string_view address) const {
  if (tcp::is_unix(address))
    return refuse("address '" + std::string(address.substr(0, 300)) +
                  "': a unix socket needs no TLS; use transport tcp");
  return tcp_->check(address);
}

Result<std::unique_ptr<Listener>> TlsTransport::listen(const std::string& address, Executor& home) const {
  if (auto sound = check(address); !sound.ok()) return std::move(sound).error();
  if (options_.certificate.empty()) return refuse(address + ": listening with TLS needs certificate and key");
  if (options_.verify.value_or(Verify::none) != Verify::none && options_.ca.empty())
    return refuse(address + ": verify asks peers for certificates; say in ca whose are believed");
  auto socket = tcp_->listen(address, home);
  if (!socket.ok()) return std::move(socket).error();
  return std::unique_ptr<Listener>(std::make_unique<TlsListener>(std::move(*socket), home, log_, store_, options_));
}

Task<Result<std::unique_ptr<ByteStream>>> TlsTransport::connect(const std::string& address, Executor& home,
                                                                TimePoint deadline) const {
  Result<void> sound = check(address);
  if (!sound.ok()) return ready<Result<std::unique_ptr<ByteStream>>>(std::move(sound).error());
  return connect(address, *tcp::parse_address(address), home, deadline);
}

Task<Result<std::unique_ptr<ByteStream>>> TlsTransport::connect(std::string address, tcp::HostPort to, Executor& home,
                                                                TimePoint deadline) const {
  auto connecting = tcp_->connect(address, home, deadline);
  Result<std::unique_ptr<ByteStream>> stream = co_await connecting;
  if (!stream.ok()) co_return std::move(stream).error();
  const TimePoint started = home.clock().now();
  const Credentials credentials = store_->current(started);
  // The tcp transport makes TcpStreams.
  std::unique_ptr<tcp::TcpStream> plain(static_cast<tcp::TcpStream*>(stream->release()));
  auto made = Engine::make(credentials.connecting, std::move(plain), false, log_);
  if (!made.ok()) co_return std::move(made).error();
  std::unique_ptr<Engine> engine = std::move(*made);
  const std::string host = options_.server_name.empty() ? to.host.substr(0, to.host.find('%')) : options_.server_name;
  if (auto expected = engine->expect(host, address); !expected.ok()) co_return std::move(expected).error();
  const TimePoint limit = std::min(deadline, started + options_.handshake_timeout);
  Handshake handshake(*engine, home.clock(), limit);
  co_await handshake;
  if (handshake.succeeded())
    co_return std::unique_ptr<ByteStream>(std::make_unique<TlsStream>(std::move(engine), home));
  if (!handshake.late())
    co_return Error(Errc::unavailable, address + ": TLS handshake failed: " + engine->why(), Delivery::not_run,
                    Advice::other_instance);
  const std::string text = address + ": TLS handshake not finished within " + ms(home.clock().now() - started) +
                           (engine->never_spoke() ? " (the server said nothing; does it speak TLS?)" : "");
  co_return Error(limit == deadline ? Errc::deadline_exceeded : Errc::unavailable, text, Delivery::not_run,
                  Advice::other_instance);
}

}  // namespace tenon::tls
