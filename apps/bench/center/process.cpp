#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

extern char** environ;

namespace bench {

namespace {

constexpr int patience_ms = 20'000;

// The first line that comes within the patience; empty: none.
std::string read_line(int from) {
  std::string line;
  pollfd ready{from, POLLIN, 0};
  while (::poll(&ready, 1, patience_ms) > 0) {
    char c = 0;
    if (::read(from, &c, 1) <= 0) return {};
    if (c == '\n') return line;
    line += c;
  }
  return {};
}

}  // namespace

bool CenterProcess::start(const std::filesystem::path& store) {
  kill();
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return false;
  std::vector<std::string> words{program_,  "center",       "--listen", address_,
                                 "--store", store.string(), "--lease",  lease_};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  const std::string log = store.string() + ".log";
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_addclose(&actions, pipe[0]);
  posix_spawn_file_actions_addclose(&actions, pipe[1]);
  const int failed = ::posix_spawnp(&pid_, program_.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  std::string line;
  if (failed == 0)
    line = read_line(pipe[0]);
  else
    pid_ = -1;
  ::close(pipe[0]);
  const std::string before = "listening on tcp ";
  if (!line.starts_with(before)) {
    std::ifstream words(log);
    std::fprintf(stderr, "%s center did not become ready:\n%s\n", program_.c_str(),
                 std::string(std::istreambuf_iterator<char>(words), {}).c_str());
    kill();
    return false;
  }
  address_ = line.substr(before.size());
  return true;
}

void CenterProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::size_t CenterProcess::resident_kib() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return static_cast<std::size_t>(std::atol(line.c_str() + 6));
  return 0;
}

double CenterProcess::processor_seconds() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

bool allow_open_files(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur >= wanted;
}

}  // namespace bench
