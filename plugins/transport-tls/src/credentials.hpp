#pragma once
#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "tenon/log.hpp"
#include "tenon/result.hpp"
#include "tls_options.hpp"

namespace tenon::tls {

/// OpenSSL's settings for new connections, made of one state of the certificate files. Never changed afterwards, so
/// threads may share them.
struct Credentials {
  std::shared_ptr<SSL_CTX> connecting;
  std::shared_ptr<SSL_CTX> listening;  ///< null without a certificate
};

/// Reads the files and checks that they fit together. An own certificate that has expired is only worth a warning.
/// Blocking: reads files. Fails with: config, naming the file and what is wrong with it.
Result<Credentials> load_credentials(const TlsOptions& options, Log& log);

}  // namespace tenon::tls
