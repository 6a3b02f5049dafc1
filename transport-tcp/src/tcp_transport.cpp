#include "tcp_transport.hpp"

#include <netdb.h>

#include <cstring>

#include "connector.hpp"
#include "tcp_listener.hpp"
#include "unix_address.hpp"
#include "unix_connector.hpp"
#include "unix_file.hpp"

namespace tenon::tcp {

namespace {

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

}  // namespace

Result<std::unique_ptr<TcpTransport>> TcpTransport::create(Options options, Environment environment) {
  if (auto sound = tcp::check(options); !sound.ok()) return std::move(sound).error();
  if (auto mode = parse_socket_mode(options.socket_mode); !mode.ok()) return std::move(mode).error();
  return std::unique_ptr<TcpTransport>(new TcpTransport(options, environment.log));
}

Result<void> TcpTransport::check(std::string_view address) const {
  if (is_unix(address)) {
    auto parsed = parse_unix(address);
    return parsed.ok() ? Result<void>() : Result<void>(std::move(parsed).error());
  }
  auto parsed = parse_address(address);
  if (!parsed.ok()) return std::move(parsed).error();
  return {};
}

Task<Result<std::unique_ptr<ByteStream>>> TcpTransport::connect(const std::string& address, Executor& home,
                                                                TimePoint deadline) const {
  if (is_unix(address)) {
    auto to = parse_unix(address);
    if (!to.ok()) return ready<Result<std::unique_ptr<ByteStream>>>(std::move(to).error());
    return connect_unix(*to, home, deadline, options_);
  }
  auto parsed = parse_address(address);
  if (parsed.ok() && parsed->port == 0) parsed = refuse("tcp address '" + address + "': nothing can listen on port 0");
  if (!parsed.ok()) return ready<Result<std::unique_ptr<ByteStream>>>(std::move(parsed).error());
  return connect(std::move(*parsed), home, deadline);
}

Task<Result<std::unique_ptr<ByteStream>>> TcpTransport::connect(HostPort to, Executor& home, TimePoint deadline) const {
  Connector connector(to, home, deadline, options_);
  co_return co_await connector;
}

Result<std::unique_ptr<Listener>> TcpTransport::listen(const std::string& address, Executor& home) const {
  if (is_unix(address)) {
    const auto at = parse_unix(address);
    if (!at.ok()) return at.error();
    return TcpListener::open(*at, home, log_, options_);
  }
  auto parsed = parse_address(address);
  if (!parsed.ok()) return std::move(parsed).error();
  if (parsed->form != HostPort::Form::name) {
    const auto literal = literal_address(*parsed);
    if (!literal) return Error(Errc::unavailable, address + ": there is no such network interface here");
    return TcpListener::open(*literal, home, log_, options_);
  }
  // Listening happens while an application starts: this look-up may block.
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(parsed->host.c_str(), std::to_string(parsed->port).c_str(), &hints, &found);
  if (code != 0) return Error(Errc::unavailable, address + ": unknown host (" + ::gai_strerror(code) + ")");
  const std::unique_ptr<addrinfo, FreeAddresses> list(found);
  Result<std::unique_ptr<Listener>> listener = Error(Errc::unavailable, address + ": no address to bind");
  for (const addrinfo* entry = found; entry && !listener.ok(); entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    SocketAddress bound;
    std::memcpy(&bound.storage, entry->ai_addr, entry->ai_addrlen);
    bound.size = entry->ai_addrlen;
    listener = TcpListener::open(bound, home, log_, options_);
  }
  if (!listener.ok()) listener.error().prefix(address);
  return listener;
}

}  // namespace tenon::tcp
