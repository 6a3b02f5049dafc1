#include "outside.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <string_view>

Outside::Outside() : signals_(-1), input_(STDIN_FILENO) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
}

Outside::~Outside() { ::close(signals_); }

bool Outside::wait(Time::time_point until, const std::function<void(const std::string& line)>& on_line) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Time::now()).count();
    if (left <= 0) return true;
    pollfd ready[2] = {{signals_, POLLIN, 0}, {input_, POLLIN, 0}};
    if (::poll(ready, 2, static_cast<int>(left)) <= 0) continue;
    if (ready[1].revents != 0) read(on_line);
    if (ready[0].revents != 0) return false;
  }
}

void Outside::read(const std::function<void(const std::string& line)>& on_line) {
  char text[4096];
  const ssize_t got = ::read(input_, text, sizeof text);
  if (got <= 0) {
    input_ = -1;
    return;
  }
  for (const char c : std::string_view(text, static_cast<std::size_t>(got))) {
    if (c != '\n') {
      line_ += c;
      continue;
    }
    on_line(line_);
    line_.clear();
  }
}
