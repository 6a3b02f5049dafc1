#pragma once
#include <memory>
#include <string>

#include "credential_store.hpp"
#include "tcp_transport.hpp"
#include "tenon/catalog.hpp"
#include "tenon/transport.hpp"

namespace tenon::tls {

/// Transport "tls".
class TlsTransport final : public Transport {
 public:
  using Options = TlsOptions;
  /// Reads the certificate files. Fails with: config.
  static Result<std::unique_ptr<TlsTransport>> create(Options options, Environment environment);

  Result<void> check(std::string_view address) const override;
  Task<Result<std::unique_ptr<ByteStream>>> connect(const std::string& address, Executor& home,
                                                    TimePoint deadline) const override;
  Result<std::unique_ptr<Listener>> listen(const std::string& address, Executor& home) const override;

 private:
  TlsTransport(Options options, std::unique_ptr<tcp::TcpTransport> tcp, std::shared_ptr<CredentialStore> store,
               Log& log)
      : options_(std::move(options)), tcp_(std::move(tcp)), store_(std::move(store)), log_(log) {}
  Task<Result<std::unique_ptr<ByteStream>>> connect(std::string address, tcp::HostPort to, Executor& home,
                                                    TimePoint deadline) const;

  const Options options_;
  const std::unique_ptr<const tcp::TcpTransport> tcp_;
  const std::shared_ptr<CredentialStore> store_;
  Log& log_;
};

}  // namespace tenon::tls
