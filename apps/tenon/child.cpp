#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace tenon::cli {

namespace {

Error failed(const std::string& what) {
  return Error(Errc::unavailable, "starting a server process: " + what, Delivery::not_run);
}

// Ends the process and collects it.
void end_process(pid_t pid) noexcept {
  ::kill(pid, SIGTERM);
  for (int i = 0; i < 500; ++i) {
    if (::waitpid(pid, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

// The first line that `fd` brings before `until`, without its end; nothing when it ends or time is over.
std::string read_line(int fd, std::chrono::steady_clock::time_point until) {
  std::string line;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
    char byte = 0;
    if (::read(fd, &byte, 1) != 1) return {};
    if (byte == '\n') return line;
    line += byte;
  }
}

}  // namespace

Result<Child> Child::serve(const std::vector<std::string>& arguments, Duration patience) {
  std::vector<std::string> words{"tenon", "serve"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed(std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execv("/proc/self/exe", argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return failed(std::strerror(errno));
  }
  const std::string line = read_line(ends[0], std::chrono::steady_clock::now() + patience);
  ::close(ends[0]);
  constexpr std::string_view ready = "listening on ";
  const std::size_t space = line.find(' ', ready.size());
  if (!line.starts_with(ready) || space == std::string::npos) {
    end_process(pid);
    return failed("no ready line (its own message is above)");
  }
  return Child(pid, line.substr(ready.size(), space - ready.size()) + ":" + line.substr(space + 1));
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), address_(std::move(other.address_)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(address_, other.address_);
  return *this;
}

Child::~Child() { end(); }

void Child::end() noexcept {
  if (pid_ > 0) end_process(std::exchange(pid_, -1));
}

}  // namespace tenon::cli
