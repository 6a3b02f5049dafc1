// An App that offers test.Who of group "blue" in a process of its own, to be stopped and killed; ends on SIGTERM.
//
//   mortal_app SERVERS SESSION-TIMEOUT-MS NAME LISTEN
#include <signal.h>

#include <cstdio>
#include <cstdlib>

#include "../traffic/fixture.hpp"
#include "options.hpp"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  // Before there are threads, so that all of them leave it to sigwait().
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);

  using namespace tenon::test;
  tenon::zk::ZkOptions options;
  options.servers = argv[1];
  options.session_timeout = std::chrono::milliseconds(std::atoi(argv[2]));
  const Store zookeeper = store("registry-zk", "zookeeper", options);
  const Provider provider(argv[3], "blue", zookeeper, Provider::Announced::yes, argv[4]);
  if (!provider.app) return 1;
  std::printf("serving %s\n", provider.address().c_str());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&term, &signal);
  return provider.app->stop(std::chrono::seconds(5)) ? 0 : 1;
}
