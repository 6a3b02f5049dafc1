#include "contract/transport_contract.hpp"

#include <unistd.h>

#include "contract/through_proxy.hpp"
#include "memory_transport.hpp"
#include "tcp_transport.hpp"

namespace tenon::test {
namespace {

std::unique_ptr<Transport> make_tcp(Environment environment) {
  auto made = tcp::TcpTransport::create({}, environment);
  return made.ok() ? std::move(*made) : nullptr;
}

std::unique_ptr<Transport> make_memory(Environment environment) {
  auto made = mem::MemoryTransport::create({}, environment);
  return made.ok() ? std::move(*made) : nullptr;
}

/// A buffer of 97 bytes: writers block all the time.
std::unique_ptr<Transport> make_cramped(Environment environment) {
  mem::MemoryOptions options;
  options.buffer = 97;
  auto made = mem::MemoryTransport::create(options, environment);
  return made.ok() ? std::move(*made) : nullptr;
}

std::string as_it_is(const std::string& address) { return address; }
std::string by_name(const std::string& address) { return "localhost" + address.substr(address.rfind(':')); }

INSTANTIATE_TEST_SUITE_P(Tcp, TransportContract,
                         testing::Values(TransportCase{"v4", make_tcp, "127.0.0.1:0", "127.0.0.1:1"},
                                         TransportCase{"v6", make_tcp, "[::1]:0", "[::1]:1"},
                                         TransportCase{"name", make_tcp, "localhost:0", "localhost:1", by_name}),
                         name_of_case);

TransportCase cut_into_pieces() {
  TransportCase made{"sliced", make_tcp, "127.0.0.1:0", "127.0.0.1:1", through_proxy(both(sliced())), 1u << 20};
  made.direct = false;
  return made;
}
TransportCase late_and_slow() {
  Faults faults{.delay = std::chrono::microseconds(200), .jitter = std::chrono::milliseconds(1)};
  faults.slices = {1, 20000};
  faults.bytes_per_second = 20'000'000;
  TransportCase made{"jitter", make_tcp, "127.0.0.1:0", "127.0.0.1:1", through_proxy(both(faults)), 4u << 20};
  made.direct = false;
  return made;
}
INSTANTIATE_TEST_SUITE_P(ThroughProxy, TransportContract, testing::Values(cut_into_pieces(), late_and_slow()),
                         name_of_case);

/// Of this process alone: tests run side by side.
std::string unix_address(const std::string& name) {
  const bool abstract = name.front() == '@';
  return "unix:" + (abstract ? "@tenon-" + name.substr(1) : testing::TempDir() + "tenon-" + name) + "-" +
         std::to_string(::getpid());
}

INSTANTIATE_TEST_SUITE_P(Unix, TransportContract,
                         testing::Values(TransportCase{"file", make_tcp, unix_address("file"), unix_address("none")},
                                         TransportCase{"abstract", make_tcp, unix_address("@a"), unix_address("@b")}),
                         name_of_case);

INSTANTIATE_TEST_SUITE_P(Memory, TransportContract,
                         testing::Values(TransportCase{"wide", make_memory, "wide", "nobody"},
                                         TransportCase{"cramped", make_cramped, "cramped", "nobody", as_it_is, 200000}),
                         name_of_case);

}  // namespace
}  // namespace tenon::test
