#pragma once
#include <memory>
#include <string>

#include "address.hpp"
#include "socket.hpp"
#include "tenon/catalog.hpp"
#include "tenon/transport.hpp"

namespace tenon::tcp {

/// Transport "tcp".
class TcpTransport final : public Transport {
 public:
  using Options = TcpOptions;
  static Result<std::unique_ptr<TcpTransport>> create(Options options, Environment environment);

  Result<void> check(std::string_view address) const override;
  Task<Result<std::unique_ptr<ByteStream>>> connect(const std::string& address, Executor& home,
                                                    TimePoint deadline) const override;
  Result<std::unique_ptr<Listener>> listen(const std::string& address, Executor& home) const override;

 private:
  TcpTransport(const Options& options, Log& log) : options_(options), log_(log) {}
  Task<Result<std::unique_ptr<ByteStream>>> connect(HostPort to, Executor& home, TimePoint deadline) const;

  const Options options_;
  Log& log_;
};

}  // namespace tenon::tcp
