#pragma once
// A program on a terminal of its own.

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace tenon::test {

/// Started by the constructor on a fresh terminal of `rows` x `columns`, killed by the destructor if it still runs.
/// Every wait is bounded. Threads: one.
class TerminalProgram {
 public:
  using Clock = std::chrono::steady_clock;

  TerminalProgram(const std::string& program, const std::vector<std::string>& arguments, unsigned short rows,
                  unsigned short columns) {
    winsize size{rows, columns, 0, 0};
    if (::openpty(&ours_, &its_, nullptr, nullptr, &size) != 0) std::abort();
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) std::abort();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::setsid();
      ::ioctl(its_, TIOCSCTTY, 0);
      for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(its_, fd);
      ::close(ours_);
      ::execv(program.c_str(), argv.data());
      ::_exit(127);
    }
    (void)::fcntl(ours_, F_SETFL, O_NONBLOCK);
  }
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;
  ~TerminalProgram() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(ours_);
    ::close(its_);
  }

  /// True once `text` has appeared since the last forget(), within 20 s.
  bool shows(const std::string& text) {
    const auto until = Clock::now() + std::chrono::seconds(20);
    while (seen_.find(text) == std::string::npos) {
      if (Clock::now() > until) return false;
      read();
    }
    return true;
  }
  void forget() { seen_.clear(); }
  const std::string& seen() const noexcept { return seen_; }
  void type(const std::string& keys) { (void)!::write(ours_, keys.data(), keys.size()); }
  void signal(int number) const { ::kill(pid_, number); }
  void resize(unsigned short rows, unsigned short columns) {
    winsize size{rows, columns, 0, 0};
    ::ioctl(ours_, TIOCSWINSZ, &size);
  }
  /// Whether keys arrive at once and unseen.
  bool raw() const {
    termios modes{};
    return ::tcgetattr(its_, &modes) == 0 && (modes.c_lflag & (ICANON | ECHO)) == 0;
  }
  /// True once it is stopped by a signal, within 20 s.
  bool stopped() { return waited(WUNTRACED) && WIFSTOPPED(status_); }
  /// Its exit code, 128 + n after signal n, -1 when it did not end within 20 s.
  int code() {
    if (!waited(0)) return -1;
    pid_ = -1;
    read();
    return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
  }

 private:
  bool waited(int options) {
    const auto until = Clock::now() + std::chrono::seconds(20);
    while (::waitpid(pid_, &status_, WNOHANG | options) != pid_) {
      if (Clock::now() > until) return false;
      read();
    }
    return true;
  }
  void read() {
    pollfd ready{ours_, POLLIN, 0};
    (void)::poll(&ready, 1, 10);
    char buffer[4096];
    for (ssize_t got = ::read(ours_, buffer, sizeof buffer); got > 0; got = ::read(ours_, buffer, sizeof buffer))
      seen_.append(buffer, static_cast<std::size_t>(got));
  }

  int ours_ = -1;
  int its_ = -1;
  pid_t pid_ = -1;
  int status_ = 0;
  std::string seen_;
};

}  // namespace tenon::test
