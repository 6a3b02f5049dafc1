#include "failure.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>

namespace tenon::tls {

namespace {

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
};
using Names = std::unique_ptr<GENERAL_NAMES, FreeNames>;

Names alternatives(X509* certificate) {
  return Names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
}

/// Text of a name from a certificate; empty when it has control bytes (a NUL that hides its end, a forged log line).
std::string clean(const unsigned char* bytes, int size) {
  const std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(std::max(size, 0)));
  const bool sound = std::all_of(text.begin(), text.end(), [](char c) { return c < 0 || (c >= 0x20 && c != 0x7f); });
  return sound ? text : std::string();
}

std::string text_of(const GENERAL_NAME& name) {
  int type = 0;
  const void* value = GENERAL_NAME_get0_value(&name, &type);
  const auto* text = static_cast<const ASN1_STRING*>(value);
  if (type == GEN_DNS || type == GEN_URI || type == GEN_EMAIL)
    return clean(ASN1_STRING_get0_data(text), ASN1_STRING_length(text));
  if (type != GEN_IPADD) return {};
  char shown[INET6_ADDRSTRLEN] = "";
  const int family = ASN1_STRING_length(text) == 4 ? AF_INET : ASN1_STRING_length(text) == 16 ? AF_INET6 : AF_UNSPEC;
  if (family == AF_UNSPEC || !inet_ntop(family, ASN1_STRING_get0_data(text), shown, sizeof shown)) return {};
  return shown;
}

std::string common_name(const X509_NAME* name) {
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at < 0) return {};
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
  if (size < 0) {
    ERR_clear_error();
    return {};
  }
  std::string found = clean(text, size);
  OPENSSL_free(text);
  return found;
}

/// "localhost, 127.0.0.1": for whom a certificate is valid.
std::string valid_for(X509* certificate) {
  constexpr std::size_t enough = 200;
  std::string all;
  const Names names = alternatives(certificate);
  for (int at = 0; names && at < sk_GENERAL_NAME_num(names.get()) && all.size() < enough; ++at) {
    const std::string name = text_of(*sk_GENERAL_NAME_value(names.get(), at));
    if (!name.empty()) all += (all.empty() ? "" : ", ") + name;
  }
  return all.empty() ? common_name(X509_get_subject_name(certificate)) : all;
}

std::string time_text(const ASN1_TIME* time) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
  if (!out || !ASN1_TIME_print(out.get(), time)) return "?";
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace

std::string take_error_text() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  std::string text = reason ? reason : code != 0 ? "error " + std::to_string(code) : "unknown reason";
  ERR_clear_error();
  return text;
}

std::string name_of(X509* certificate) {
  std::string found = common_name(X509_get_subject_name(certificate));
  const Names names = alternatives(certificate);
  for (int at = 0; names && found.empty() && at < sk_GENERAL_NAME_num(names.get()); ++at)
    found = text_of(*sk_GENERAL_NAME_value(names.get(), at));
  return found;
}

std::string verify_text(int code, X509* certificate, std::string_view owner, std::string_view expected) {
  const std::string of = "certificate of " + std::string(owner);
  const std::string issuer = certificate ? common_name(X509_get_issuer_name(certificate)) : std::string();
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return of + " has expired" +
             (certificate ? " (notAfter " + time_text(X509_get0_notAfter(certificate)) + ")" : std::string());
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return of + " is not valid yet" +
             (certificate ? " (notBefore " + time_text(X509_get0_notBefore(certificate)) + ")" : std::string());
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return of + " is not valid for host " + std::string(expected) +
             (certificate ? ", only for " + valid_for(certificate) : std::string()) +
             "; set server_name if that is whom you mean";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return of + " is self-signed and not among those in ca";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return of + ": self-signed certificate in chain: its authority" + (issuer.empty() ? "" : " '" + issuer + "'") +
             " is not among those in ca";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return of + " was issued by " + (issuer.empty() ? "somebody" : "'" + issuer + "', who is") +
             " not among those in ca";
    default: return of + ": " + X509_verify_cert_error_string(code);
  }
}

bool is_refusal(unsigned long code) noexcept {
  if (ERR_GET_LIB(code) != ERR_LIB_SSL) return false;
  switch (ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_CERTIFICATE_REQUIRED: return true;
    default: return false;
  }
}

std::string ssl_text(unsigned long code) {
  const int reason = ERR_GET_REASON(code);
  const char* text = ERR_reason_error_string(code);
  if (ERR_GET_LIB(code) != ERR_LIB_SSL) return text ? text : "error " + std::to_string(code);
  if (reason > SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256) {
    const int alert = reason - SSL_AD_REASON_OFFSET;
    // OpenSSL 3.0 has no name for this one.
    const char* name =
        alert == SSL_AD_CERTIFICATE_REQUIRED ? "certificate required" : SSL_alert_desc_string_long(alert);
    const std::string said = std::string("the peer refused with alert '") + name + "'";
    switch (alert) {
      case SSL_AD_CERTIFICATE_REQUIRED: return said + ": it asks for a certificate; set certificate and key";
      case SSL_AD_HANDSHAKE_FAILURE:
        return said + ": it may want a certificate (set certificate and key), or no cipher is shared";
      case SSL_AD_UNKNOWN_CA: return said + ": it does not know who issued our certificate";
      case SSL_AD_CERTIFICATE_EXPIRED: return said + ": our certificate";
      case SSL_AD_PROTOCOL_VERSION: return said + ": no TLS version is shared; see min_version";
      default: return said;
    }
  }
  switch (reason) {
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return "peer sent no certificate, and verify is 'require'";
    case SSL_R_UNSUPPORTED_PROTOCOL: return "the peer speaks only versions of TLS below min_version";
    case SSL_R_NO_SHARED_CIPHER: return "no cipher is shared with the peer; see ciphers";
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST: return "plain-text peer? it sent an HTTP request";
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC: return "bytes were changed or made up on the way (bad record MAC)";
    case SSL_R_NO_RENEGOTIATION: return "the peer asked for a renegotiation, which is refused";
    default: return text ? text : "TLS error " + std::to_string(reason);
  }
}

std::string plain_text_seen(std::string_view first_bytes) {
  constexpr char handshake = 0x16;
  constexpr char alert = 0x15;
  constexpr std::size_t shown = 8;
  if (first_bytes.empty() || first_bytes[0] == handshake || first_bytes[0] == alert) return {};
  std::string text;
  for (const char c : first_bytes.substr(0, shown)) text += c >= 0x20 && c < 0x7f ? c : '.';
  return "'" + text + "'";
}

}  // namespace tenon::tls
