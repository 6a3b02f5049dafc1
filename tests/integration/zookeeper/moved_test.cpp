// REG-18. The servers' name gets another address. The library asks for names through this program's getaddrinfo().
#include <dlfcn.h>
#include <netdb.h>

#include "fixture.hpp"

namespace {

constexpr const char* name_of_servers = "registry.test";
std::mutex guard;
std::string its_address;  // empty: the name is not known

}  // namespace

// Seen by the libraries, though everything else here is hidden.
extern "C" [[gnu::visibility("default")]] int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                                                          addrinfo** found) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (!name || std::string(name) != name_of_servers) return real(name, service, hints, found);
  std::string address;
  {
    const std::lock_guard lock(guard);
    address = its_address;
  }
  return address.empty() ? EAI_NONAME : real(address.c_str(), service, hints, found);
}

namespace tenon::test {
namespace {

const ServiceName service{"demo.Greeter", "blue", "1.0"};

void name_is(const std::string& address) {
  const std::lock_guard lock(guard);
  its_address = address;
}

TEST(SlowZookeeperMoved, AnotherAddressOfTheName) {
  ZookeeperServer server;
  name_is("");
  zk::ZkOptions options = zk_options(std::string(name_of_servers) + ":" + std::to_string(server.port()));
  options.connect_timeout = milliseconds(200);
  RegistryMember both(connect_to(options));
  Ears<Snapshot> ears;
  auto watching = both.on([&] { return both.registry->watch({service, "test"}, ears.observer()); });
  ASSERT_TRUE(watching.ok());
  const Instance one = provider("10.0.0.1:4080");
  auto lease = both.announce(service, one);
  ASSERT_TRUE(lease.ok()) << "a name that is not known yet is tried again";
  EXPECT_GT(both.log.count(name_of_servers), 0u);
  for (const char* host : {"127.0.0.1", "127.0.0.2", "127.0.0.3"}) {
    server.move(host);
    server.start();
    name_is(host);
    const auto begun = std::chrono::steady_clock::now();
    const auto there = [&] {
      Hand hand(server.address());
      return eventually([&] { return hand.owner("/motan/blue/demo.Greeter/server/" + one.address) != 0; }, seconds(30));
    };
    ASSERT_TRUE(there()) << host;
    ASSERT_TRUE(eventually([&] { return !ears.stale() && lists(ears, {one}); }, seconds(30))) << host;
    std::printf("found at %s after %.2f s\n", host,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    EXPECT_LE(std::chrono::steady_clock::now() - begun, seconds(30));
    server.kill();
    server.wipe();  // another machine
  }
  both.on([&] { watching->reset(); });
  both.drop(*lease);
}

// Many of its servers cannot be resolved: one that can is enough, also when it is the one that moves.
TEST(SlowZookeeperMoved, OneOfThreeNamesIsEnough) {
  ZookeeperServer server;
  server.start();
  name_is("127.0.0.1");
  zk::ZkOptions options = zk_options("no-such-1.invalid:2181," + std::string(name_of_servers) + ":" +
                                     std::to_string(server.port()) + ",no-such-2.invalid:2181");
  RegistryMember both(connect_to(options));
  auto lease = both.announce(service, provider("10.0.0.1:4080"));
  ASSERT_TRUE(lease.ok());
  server.kill();
  server.move("127.0.0.2");
  server.start();
  name_is("127.0.0.2");
  Hand hand(server.address());
  EXPECT_TRUE(
      eventually([&] { return hand.owner("/motan/blue/demo.Greeter/server/10.0.0.1:4080") != 0; }, seconds(30)));
  both.drop(*lease);
}

}  // namespace
}  // namespace tenon::test
