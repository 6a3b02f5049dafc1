#pragma once
// What went wrong, in sentences. OpenSSL keeps its errors in a queue per thread; everything here leaves it empty.

#include <openssl/x509.h>

#include <string>
#include <string_view>

namespace tenon::tls {

/// The newest entry of OpenSSL's error queue as text ("no start line"), and the queue emptied.
std::string take_error_text();

/// Why the peer's certificate was not accepted. `code` is an X509_V_ERR_…, `certificate` the one that failed (may be
/// null), `owner` who sent the chain ("localhost:4080"), `expected` the host it should name.
/// "certificate of localhost:4080 has expired (notAfter Jan  1 00:00:00 2020 GMT)".
std::string verify_text(int code, X509* certificate, std::string_view owner, std::string_view expected);

/// An error of libssl (ERR_get_error()'s code) during the handshake or later, as a sentence about the peer.
std::string ssl_text(unsigned long code);
/// True for a complaint of the peer's about our certificate.
bool is_refusal(unsigned long code) noexcept;

/// The subject's common name, else the first alternative name (DNS, IP address, URI, mail); empty if there is neither.
std::string name_of(X509* certificate);

/// Bytes of a peer that does not speak TLS, printable: 'HTTP/1.1'. Empty when they may be TLS.
std::string plain_text_seen(std::string_view first_bytes);

}  // namespace tenon::tls
