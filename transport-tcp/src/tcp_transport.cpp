#include "tcp_transport.hpp"

#include <netdb.h>

#include <cstring>

#include "connector.hpp"
#include "tcp_listener.hpp"

namespace tenon::tcp {

namespace {

/// A socket option is an int; more is a slip of the unit.
constexpr std::uint64_t largest_buffer = 1u << 30;

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

}  // namespace

Result<std::unique_ptr<TcpTransport>> TcpTransport::create(Options options, Environment environment) {
  if (options.user_timeout.count() < 0) return refuse("user_timeout is negative");
  if (options.keepalive.count() < 0) return refuse("keepalive is negative");
  if (options.backlog == 0) return refuse("backlog is 0; no connection could be accepted");
  for (const auto& size : {options.send_buffer, options.receive_buffer})
    if (size && (size->bytes == 0 || size->bytes > largest_buffer))
      return refuse("send_buffer and receive_buffer go from 1 byte to 1GiB");
  return std::unique_ptr<TcpTransport>(new TcpTransport(options, environment.log));
}

Result<void> TcpTransport::check(std::string_view address) const {
  auto parsed = parse_address(address);
  if (!parsed.ok()) return std::move(parsed).error();
  return {};
}

Task<Result<std::unique_ptr<ByteStream>>> TcpTransport::connect(const std::string& address, Executor& home,
                                                                TimePoint deadline) const {
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
