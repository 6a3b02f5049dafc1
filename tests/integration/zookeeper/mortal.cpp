// A provider in a process of its own, to be stopped and killed: announces one instance until SIGTERM.
//
//   mortal SERVERS ADDRESS SESSION-TIMEOUT-MS
#include <signal.h>

#include <cstdio>
#include <cstdlib>

#include "support/registry_members.hpp"
#include "zk_registry.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  // Before there are threads, so that all of them leave it to sigwait().
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);

  tenon::zk::ZkOptions options;
  options.servers = argv[1];
  options.session_timeout = std::chrono::milliseconds(std::atoi(argv[3]));
  tenon::test::RegistryMember member([&](tenon::Environment environment) -> std::unique_ptr<tenon::Registry> {
    auto made = tenon::zk::ZkRegistry::create(options, environment);
    return made.ok() ? std::move(*made) : nullptr;
  });
  tenon::Instance instance;
  instance.id = instance.address = argv[2];
  instance.protocols = {"tenon"};
  auto lease = member.announce({"demo.Greeter", "blue", "1.0"}, instance);
  if (!lease.ok()) return 1;
  std::puts("announced");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&term, &signal);
  const bool withdrawn = member.withdraw(**lease).ok();
  member.drop(*lease);
  return withdrawn ? 0 : 1;
}
