#include "credentials.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "failure.hpp"

namespace tenon::tls {

namespace {

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

/// OpenSSL says little about files that are not there.
Result<void> readable(const char* what, const std::string& file) {
  constexpr off_t largest = 1 << 20;
  const std::string where = std::string(what) + " " + file + ": ";
  const tcp::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would block
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0) return refuse(where + tcp::system_text(errno));
  if (!S_ISREG(found.st_mode)) return refuse(where + "is no file");
  if (found.st_size > largest) return refuse(where + "has more than 1 MiB; is it the right file?");
  return {};
}

int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Result<void> use_certificate(SSL_CTX* context, const TlsOptions& options) {
  if (auto there = readable("certificate", options.certificate); !there.ok()) return there;
  if (auto there = readable("key", options.key); !there.ok()) return there;
  bool asked = false;
  SSL_CTX_set_default_passwd_cb(context, &no_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &asked);
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate.c_str()) != 1)
    return refuse("certificate " + options.certificate + ": holds no usable PEM certificate (" + take_error_text() +
                  ")");
  const bool used = SSL_CTX_use_PrivateKey_file(context, options.key.c_str(), SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  if (asked) {
    ERR_clear_error();
    return refuse("key " + options.key + ": is encrypted; write it without a passphrase, readable by this user only");
  }
  const unsigned long fault = ERR_peek_last_error();
  const bool mismatch =
      !used && ERR_GET_LIB(fault) == ERR_LIB_X509 &&
      (ERR_GET_REASON(fault) == X509_R_KEY_VALUES_MISMATCH || ERR_GET_REASON(fault) == X509_R_KEY_TYPE_MISMATCH);
  if (!used && !mismatch)
    return refuse("key " + options.key + ": holds no usable PEM private key (" + take_error_text() + ")");
  if (mismatch || SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    return refuse("key " + options.key + " does not belong to certificate " + options.certificate);
  }
  return {};
}

/// The names of TLS 1.3 suites are told apart by their prefix: OpenSSL keeps two lists.
Result<void> use_ciphers(SSL_CTX* context, const std::string& ciphers) {
  std::string older;
  std::string newer;
  for (std::string_view rest = ciphers; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string_view name = rest.substr(0, colon);
    std::string& list = name.starts_with("TLS_") ? newer : older;
    if (!name.empty()) list.append(list.empty() ? "" : ":").append(name);
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  if ((!older.empty() && SSL_CTX_set_cipher_list(context, older.c_str()) != 1) ||
      (!newer.empty() && SSL_CTX_set_ciphersuites(context, newer.c_str()) != 1))
    return refuse("ciphers '" + ciphers + "': " + take_error_text() + "; openssl ciphers lists the names");
  return {};
}

/// ALPN's form: each name after its length.
std::string wire_form(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all.append(1, static_cast<char>(name.size())).append(name);
  return all;
}

/// The listener's first choice among what the peer offers. None: the connection goes on without ALPN, and what is
/// spoken is found by its first bytes.
int select_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned int offered_size, void* own) {
  const auto& wanted = *static_cast<const std::string*>(own);
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(wanted.data()),
                                           static_cast<unsigned>(wanted.size()), offered, offered_size);
  if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

struct Deleter {
  std::shared_ptr<const std::string> protocols;  // select_protocol()'s, as long as the context
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
};

Result<std::shared_ptr<SSL_CTX>> make_context(const TlsOptions& options, bool listening) {
  ERR_clear_error();
  const auto protocols = std::make_shared<const std::string>(wire_form(options.alpn));
  std::shared_ptr<SSL_CTX> made(SSL_CTX_new(listening ? TLS_server_method() : TLS_client_method()), Deleter{protocols});
  SSL_CTX* context = made.get();
  if (!context) return refuse("OpenSSL does not start: " + take_error_text());
  SSL_CTX_set_min_proto_version(context, options.min_version == "1.3" ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF |
                                   (listening ? SSL_OP_CIPHER_SERVER_PREFERENCE : 0));
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  // Connections are few and long-lived: resuming would save little, and tickets nobody reads turn a close into a reset.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  if (auto used = use_ciphers(context, options.ciphers); !used.ok()) return std::move(used).error();
  if (!options.certificate.empty())
    if (auto used = use_certificate(context, options); !used.ok()) return std::move(used).error();
  if (!options.ca.empty()) {
    if (auto there = readable("ca", options.ca); !there.ok()) return std::move(there).error();
    if (SSL_CTX_load_verify_file(context, options.ca.c_str()) != 1)
      return refuse("ca " + options.ca + ": holds no usable PEM certificate (" + take_error_text() + ")");
  } else if (!listening && SSL_CTX_set_default_verify_paths(context) != 1) {
    return refuse("the system's certificates cannot be used (" + take_error_text() + "); set ca");
  }
  const Verify verify = options.verify.value_or(listening ? Verify::none : Verify::require);
  if (listening) {
    constexpr unsigned char id[] = "tenon";
    SSL_CTX_set_session_id_context(context, id, sizeof id - 1);
    if (verify != Verify::none) SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(options.ca.c_str()));
    if (!protocols->empty())
      SSL_CTX_set_alpn_select_cb(context, &select_protocol, const_cast<std::string*>(protocols.get()));
  } else if (!protocols->empty()) {
    (void)SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(protocols->data()),
                                  static_cast<unsigned>(protocols->size()));
  }
  const int asked = verify == Verify::require ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_PEER;
  SSL_CTX_set_verify(context, verify == Verify::none ? SSL_VERIFY_NONE : asked, nullptr);
  ERR_clear_error();
  return made;
}

}  // namespace

Result<Credentials> load_credentials(const TlsOptions& options, Log& log) {
  Credentials loaded;
  auto connecting = make_context(options, false);
  if (!connecting.ok()) return std::move(connecting).error();
  loaded.connecting = std::move(*connecting);
  X509* own = SSL_CTX_get0_certificate(loaded.connecting.get());
  if (own && X509_cmp_current_time(X509_get0_notAfter(own)) < 0)
    log.warn("tls-certificate", verify_text(X509_V_ERR_CERT_HAS_EXPIRED, own, options.certificate, {}));
  // Who only connects may verify with the system's certificates; who listens must say whom to believe.
  const bool can_listen =
      !options.certificate.empty() && (!options.ca.empty() || options.verify.value_or(Verify::none) == Verify::none);
  if (!can_listen) return loaded;
  auto listening = make_context(options, true);
  if (!listening.ok()) return std::move(listening).error();
  loaded.listening = std::move(*listening);
  return loaded;
}

}  // namespace tenon::tls
