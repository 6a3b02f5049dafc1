#pragma once
// Another program: its lines, its signals, its end. Every wait is bounded.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace tenon::test {

/// Started by the constructor, killed by the destructor if it still runs. Threads: one.
class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;
  struct End {
    int code = -1;  ///< exit code; 128 + n: ended by signal n; -1: still runs
    Clock::duration took{};  ///< since end() was called
    std::string out;  ///< all it printed to standard output and not read as lines
    std::string err;
  };

  ChildProcess(const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int out[2];
    int err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ < 0) std::abort();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      ::execv(program.c_str(), argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    ends_[0] = out[0];
    ends_[1] = err[0];
    for (const int end : ends_) (void)::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (const int end : ends_) ::close(end);
  }

  /// The next line of its standard output; "" when there is none within `limit`.
  std::string line(std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const auto until = Clock::now() + limit;
    while (texts_[0].find('\n') == std::string::npos) {
      if (Clock::now() >= until || (!read() && texts_[0].find('\n') == std::string::npos)) return "";
    }
    const std::size_t length = texts_[0].find('\n');
    std::string line = texts_[0].substr(0, length);
    texts_[0].erase(0, length + 1);
    return line;
  }
  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }
  /// True while it has not ended.
  bool running() {
    if (pid_ <= 0) return false;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == 0) return true;
    pid_ = -1;
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return false;
  }
  /// Waits until it ends, at most `limit`.
  End end(std::chrono::milliseconds limit) {
    const auto begun = Clock::now();
    while (running() && Clock::now() - begun < limit) {
      (void)read();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    End end;
    end.took = Clock::now() - begun;
    end.code = code_;
    (void)read();
    end.out = texts_[0];
    end.err = texts_[1];
    return end;
  }

 private:
  // Takes what is in the pipes, waiting at most 10 ms for something. False: standard output has ended.
  bool read() {
    pollfd ready[2] = {{ends_[0], POLLIN, 0}, {ends_[1], POLLIN, 0}};
    (void)::poll(ready, 2, 10);
    bool open = true;
    for (int i = 0; i < 2; ++i)
      for (;;) {
        char buffer[4096];
        const ssize_t got = ::read(ends_[i], buffer, sizeof buffer);
        if (got == 0 && i == 0) open = false;
        if (got <= 0) break;
        texts_[i].append(buffer, static_cast<std::size_t>(got));
      }
    return open;
  }

  pid_t pid_ = -1;
  int code_ = -1;
  int ends_[2];
  std::string texts_[2];
};

}  // namespace tenon::test
