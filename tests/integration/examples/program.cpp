#include "program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

namespace examples_test {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

Program::Program(const std::string& name, const std::vector<std::string>& arguments) {
  char folder[] = "/tmp/tenon-examples-XXXXXX";
  if (!::mkdtemp(folder)) throw std::runtime_error("mkdtemp failed");
  folder_ = folder;
  std::vector<std::string> words{BIN_DIR "/" + name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string out = folder_ / "out";
  const std::string err = folder_ / "err";
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    if (::chdir("/") != 0) ::_exit(126);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;  // a leftover in /tmp is no failure of the test
  std::filesystem::remove_all(folder_, ignored);
}

std::string Program::listening_address() const {
  for (const auto until = Clock::now() + 20s; Clock::now() < until; std::this_thread::sleep_for(10ms)) {
    const std::string said = text_of(folder_ / "out");
    const std::size_t line = said.find("listening on ");
    const std::size_t end = line == std::string::npos ? line : said.find('\n', line);
    if (end == std::string::npos) continue;
    const std::size_t word = said.rfind(' ', end) + 1;
    return said.substr(word, end - word);
  }
  return {};
}

Outcome Program::wait(std::chrono::seconds limit) {
  Outcome outcome;
  const pid_t pid = std::exchange(pid_, -1);
  const auto until = Clock::now() + limit;
  int status = 0;
  bool ended = false;
  while (!(ended = ::waitpid(pid, &status, WNOHANG) == pid) && Clock::now() < until) std::this_thread::sleep_for(5ms);
  if (ended) {
    outcome.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  } else {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
  }
  outcome.out = text_of(folder_ / "out");
  outcome.err = text_of(folder_ / "err");
  return outcome;
}

Outcome Program::stop() {
  ::kill(pid_, SIGTERM);
  return wait(10s);
}

}  // namespace examples_test
