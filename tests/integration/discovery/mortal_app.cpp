// An App that offers test.Who of group "blue" in a process of its own, to be stopped and killed; ends on SIGTERM.
//
//   mortal_app PLUGIN REGISTRY NAME LISTEN
//
// REGISTRY is an entry of a manifest's `registries`: "{ use: zookeeper, servers: … }". It says "serving ADDRESS", and
// at its end "connections COUNT", those that brought calls; warnings go to standard error.
#include <signal.h>

#include <cstdio>

#include "../traffic/fixture.hpp"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  // Before there are threads, so that all of them leave it to sigwait().
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);

  using namespace tenon::test;
  const Provider provider(argv[3], "blue", Store{argv[1], argv[2]}, Provider::Announced::yes, argv[4],
                          tenon::LogLevel::warn);
  if (!provider.app) return 1;
  std::printf("serving %s\n", provider.address().c_str());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&term, &signal);
  const bool good = provider.app->stop(std::chrono::seconds(5));
  std::printf("connections %zu\n", provider.connections());
  return good ? 0 : 1;
}
