#include "screen.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>

#include "table.hpp"

namespace tenon::cli {

namespace {

constexpr std::string_view other_screen = "\x1b[?1049h\x1b[?25l";  // and no cursor
constexpr std::string_view own_screen = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view home = "\x1b[H";
constexpr std::string_view end_of_line = "\x1b[K\r\n";
constexpr std::string_view rest_of_screen = "\x1b[J";

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH}) sigaddset(&set, number);
  return set;
}

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(STDOUT_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace

Screen::Screen(bool redraw)
    : terminal_(redraw && ::isatty(STDOUT_FILENO) == 1), keyboard_(terminal_ && ::isatty(STDIN_FILENO) == 1) {
  const sigset_t set = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

Screen::~Screen() {
  leave();
  if (signals_ >= 0) ::close(signals_);
  const sigset_t set = watched_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Screen::enter() {
  if (!terminal_ || entered_) return;
  entered_ = true;
  if (keyboard_ && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // keys arrive at once; Ctrl-C and Ctrl-Z stay signals
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  } else {
    keyboard_ = false;
  }
  write_all(other_screen);
}

void Screen::leave() {
  if (!entered_) return;
  entered_ = false;
  write_all(own_screen);
  if (keyboard_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

bool Screen::show(const std::string& text) {
  if (!terminal_) return write_all(text);
  enter();
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    size.ws_row = 24;
    size.ws_col = 80;
  }
  std::string drawn(home);
  std::string_view rest = text;
  for (unsigned row = 0; row + 1 < size.ws_row && !rest.empty(); ++row) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    drawn.append(clipped(rest.substr(0, end), size.ws_col)).append(end_of_line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return write_all(drawn.append(rest_of_screen));
}

bool Screen::pause(Duration time) {
  const auto until = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd ready[2] = {{signals_, POLLIN, 0}, {keyboard_ && entered_ ? STDIN_FILENO : -1, POLLIN, 0}};
    const int found = ::poll(ready, 2, static_cast<int>(std::max<long long>(left, 0)));
    if (found < 0 && errno != EINTR) return false;
    signalfd_siginfo caught{};
    while (::read(signals_, &caught, sizeof caught) == sizeof caught) {
      if (caught.ssi_signo == SIGWINCH) return true;
      if (caught.ssi_signo != SIGTSTP) return false;
      leave();
      ::raise(SIGSTOP);
      return true;
    }
    if (ready[1].revents != 0) {
      char key = 0;
      if (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q') return false;
      continue;
    }
    if (left <= 0) return true;
  }
}

}  // namespace tenon::cli
