#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <utility>

namespace cli_test {

namespace {

using Clock = std::chrono::steady_clock;

struct Started {
  pid_t pid;
  int out;
  int err;
};

Started start(const std::vector<std::string>& arguments, const std::string& input = "/dev/null") {
  std::vector<std::string> words{"tenon"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int out[2];
  int err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) std::abort();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int from = ::open(input.c_str(), O_RDONLY);
    ::dup2(from, STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    ::execv(TENON_PROGRAM, argv.data());
    ::_exit(127);
  }
  if (pid < 0) std::abort();
  ::close(out[1]);
  ::close(err[1]);
  return {pid, out[0], err[0]};
}

// Reads both pipes until both end. False when time is over.
bool drain(int out, int err, Outcome& outcome, Clock::time_point until) {
  pollfd ends[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* texts[2] = {&outcome.out, &outcome.err};
  int open = 2;
  while (open > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0 || ::poll(ends, 2, static_cast<int>(left)) <= 0) return false;
    for (int i = 0; i < 2; ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = ::read(ends[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        texts[i]->append(buffer, static_cast<std::size_t>(got));
      } else {
        ends[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

int collect(pid_t pid, Clock::time_point until) {
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() >= until) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Outcome tenon(const std::vector<std::string>& arguments, std::chrono::seconds limit) {
  return tenon_reading("/dev/null", arguments, limit);
}

Outcome tenon_reading(const std::string& file, const std::vector<std::string>& arguments, std::chrono::seconds limit) {
  const Started process = start(arguments, file);
  const auto until = Clock::now() + limit;
  Outcome outcome;
  if (!drain(process.out, process.err, outcome, until)) ::kill(process.pid, SIGKILL);
  outcome.code = collect(process.pid, until);
  ::close(process.out);
  ::close(process.err);
  return outcome;
}

RunningTool::RunningTool(const std::vector<std::string>& arguments) {
  const Started process = start(arguments);
  pid_ = process.pid;
  out_ = process.out;
  err_ = process.err;
}

RunningTool::~RunningTool() {
  kill();
  ::close(out_);
  ::close(err_);
}

bool RunningTool::says(const std::string& text) {
  const auto until = Clock::now() + std::chrono::seconds(20);
  while (said_.find(text) == std::string::npos) {
    pollfd ready{out_, POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    char buffer[4096];
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) return false;
    const ssize_t got = ::read(out_, buffer, sizeof buffer);
    if (got <= 0) return false;
    said_.append(buffer, static_cast<std::size_t>(got));
  }
  return true;
}

void RunningTool::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

Outcome RunningTool::stop() {
  ::kill(pid_, SIGTERM);
  Outcome outcome;
  outcome.out = said_;
  const auto until = Clock::now() + std::chrono::seconds(10);
  if (!drain(out_, err_, outcome, until)) ::kill(pid_, SIGKILL);
  outcome.code = collect(std::exchange(pid_, -1), until);
  return outcome;
}

ServerProcess::ServerProcess(const std::vector<std::string>& arguments, const std::string& subcommand)
    : tool_([&] {
        std::vector<std::string> words{subcommand};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return words;
      }()) {
  if (!tool_.says("\n")) return;
  ready_line_ = tool_.out().substr(0, tool_.out().find('\n'));
  const std::string start = "listening on tcp ";
  if (ready_line_.compare(0, start.size(), start) == 0) address_ = "tcp:" + ready_line_.substr(start.size());
}

Outcome ServerProcess::stop() {
  Outcome outcome = tool_.stop();
  outcome.out.erase(0, outcome.out.find('\n') + 1);
  return outcome;
}

}  // namespace cli_test
