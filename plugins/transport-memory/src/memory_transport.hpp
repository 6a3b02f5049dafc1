#pragma once
#include <memory>
#include <string>

#include "tenon/catalog.hpp"
#include "tenon/transport.hpp"

namespace tenon::mem {

/// The settings of transport "memory".
struct MemoryOptions {
  ByteSize buffer{64u << 10};
  std::uint32_t backlog = 4096;
};
BOOST_DESCRIBE_STRUCT(MemoryOptions, (), (buffer, backlog))

/// Transport "memory": connections inside one process, between any two of its executors. Any text is an address.
class MemoryTransport final : public Transport {
 public:
  using Options = MemoryOptions;
  static Result<std::unique_ptr<MemoryTransport>> create(Options options, Environment environment);

  Result<void> check(std::string_view address) const override;
  Task<Result<std::unique_ptr<ByteStream>>> connect(const std::string& address, Executor& home,
                                                    TimePoint deadline) const override;
  Result<std::unique_ptr<Listener>> listen(const std::string& address, Executor& home) const override;

 private:
  explicit MemoryTransport(const Options& options) : options_(options) {}
  Result<std::unique_ptr<ByteStream>> connect_now(const std::string& address, Executor& home,
                                                  TimePoint deadline) const;

  const Options options_;
};

}  // namespace tenon::mem

template <>
struct tenon::Describe<tenon::mem::MemoryOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("buffer", "bytes each direction holds before writing blocks; the connecting side's counts"),
      tenon::member("backlog", "connections waiting to be accepted"));
};
