#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "socket.hpp"
#include "tenon/describe.hpp"

namespace tenon::tls {

/// What is asked of the peer's certificate.
enum class Verify : std::uint8_t {
  none,      ///< nothing; a listener does not ask for one
  optional,  ///< a listener asks, and checks what it gets; connecting, a server always has one: as `require`
  require,   ///< it must be there and hold
};
BOOST_DESCRIBE_ENUM(Verify, none, optional, require)

/// The settings of transport "tls", after those of the sockets it uses.
struct TlsOptions : tcp::SocketOptions {
  std::string certificate;
  std::string key;
  std::string ca;
  std::optional<Verify> verify;
  std::string server_name;
  std::string min_version = "1.2";
  std::string ciphers;
  std::vector<std::string> alpn = {"tenon"};
  std::chrono::milliseconds reload{10000};
  std::chrono::milliseconds handshake_timeout{5000};
  std::uint32_t max_handshakes = 256;
};
BOOST_DESCRIBE_STRUCT(TlsOptions, (tcp::SocketOptions),
                      (certificate, key, ca, verify, server_name, min_version, ciphers, alpn, reload, handshake_timeout,
                       max_handshakes))

}  // namespace tenon::tls

template <>
struct tenon::Describe<tenon::tls::TlsOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("certificate", "file: own certificate, then those between it and the CA (PEM); listening needs it"),
      tenon::member("key", "file: the certificate's private key, without a passphrase (PEM)"),
      tenon::member("ca", "file: whose certificates of peers are believed (PEM); connecting without: the system's"),
      tenon::member("verify", "the peer's certificate; default: require when connecting, none when listening"),
      tenon::member("server_name", "whom the server's certificate must name; default: the host of the address"),
      tenon::member("min_version", "1.2 or 1.3"),
      tenon::member("ciphers", "OpenSSL names separated by ':'; those of TLS 1.3 begin with TLS_; default: OpenSSL's"),
      tenon::member("alpn", "protocol names to offer or accept, best first; []: none"),
      tenon::member("reload", "how often new connections look whether the files changed; 0: never"),
      tenon::member("handshake_timeout", "a peer that has not finished its handshake by then is dropped"),
      tenon::member("max_handshakes", "of a listener at once; beyond it the oldest is dropped"),
      tenon::member("user_timeout", "as transport tcp"), tenon::member("keepalive", "as transport tcp"),
      tenon::member("no_delay", "as transport tcp"), tenon::member("send_buffer", "as transport tcp"),
      tenon::member("receive_buffer", "as transport tcp"), tenon::member("unsent", "as transport tcp"),
      tenon::member("backlog", "as transport tcp"));
};
