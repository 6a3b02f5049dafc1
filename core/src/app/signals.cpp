#include "app/signals.hpp"

#include <errno.h>
#include <semaphore.h>
#include <string.h>

namespace tenon {

namespace {

// A signal handler can reach nothing but statics. sem_post and lock-free atomics are all it uses.
constexpr int watched[3] = {SIGTERM, SIGINT, SIGUSR2};
std::atomic<int> arrived{0};
std::atomic<int> latest{0};
sem_t first;

void on_signal(int number) {
  const int saved = errno;
  latest = number;
  arrived.fetch_add(1);
  sem_post(&first);
  errno = saved;
}

}  // namespace

StopSignals::StopSignals() {
  arrived = 0;
  sem_init(&first, 0, 0);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 3; ++i) sigaction(watched[i], &action, &previous_[i]);
}

StopSignals::~StopSignals() {
  for (int i = 0; i < 3; ++i) sigaction(watched[i], &previous_[i], nullptr);
  sem_destroy(&first);
}

void StopSignals::wait_for_first() const {
  while (arrived.load() == 0)
    while (sem_wait(&first) != 0 && errno == EINTR) {
    }
}

const std::atomic<int>& StopSignals::count() const noexcept { return arrived; }

const char* StopSignals::name() const noexcept {
  switch (latest.load()) {
    case SIGTERM: return "SIGTERM";
    case SIGINT: return "SIGINT";
    case SIGUSR2: return "SIGUSR2";
    default: return "a signal";
  }
}

}  // namespace tenon
