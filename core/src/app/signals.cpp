#include "app/signals.hpp"

#include <errno.h>
#include <semaphore.h>

#include <atomic>

namespace tenon {

namespace {

// A signal handler can reach nothing but statics. sem_post and lock-free atomics are all it uses.
constexpr int watched[4] = {SIGTERM, SIGINT, SIGUSR2, SIGHUP};
std::atomic<int> arrived{0};
std::atomic<int> hung_up{0};
std::atomic<int> latest{0};
sem_t events;

void on_signal(int number) {
  const int saved = errno;
  latest = number;
  (number == SIGHUP ? hung_up : arrived).fetch_add(1);
  sem_post(&events);
  errno = saved;
}

}  // namespace

StopSignals::StopSignals() {
  arrived = hung_up = latest = 0;
  sem_init(&events, 0, 0);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 4; ++i) {
    sigaction(watched[i], nullptr, &previous_[i]);
    if (watched[i] != SIGHUP || previous_[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (int i = 0; i < 4; ++i) sigaction(watched[i], &previous_[i], nullptr);
  sem_destroy(&events);
}

void StopSignals::wait() const {
  while (sem_wait(&events) != 0 && errno == EINTR) {
  }
}

void StopSignals::wake() const noexcept { sem_post(&events); }

int StopSignals::count() const noexcept { return arrived.load() + hung_up.load(); }
int StopSignals::commands() const noexcept { return arrived.load(); }

const char* StopSignals::name() const noexcept {
  switch (latest.load()) {
    case SIGTERM: return "SIGTERM";
    case SIGINT: return "SIGINT";
    case SIGUSR2: return "SIGUSR2";
    case SIGHUP: return "SIGHUP";
    default: return "a signal";
  }
}

}  // namespace tenon
