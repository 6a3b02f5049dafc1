#include "plugin_host/probe.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "plugin_host/probe_report.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace tenon::plugin_host {

namespace {

namespace fs = std::filesystem;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::size_t max_report = 4u << 20;
constexpr std::size_t max_complaint = 64u << 10;

Error system_error(const std::string& what, int error) {
  return Error(Errc::internal, what + ": " + std::strerror(error), Delivery::not_run);
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const noexcept { return fd_; }
  void close() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  // Clear of the numbers the child's ends will be moved to.
  const int high = ::fcntl(pipe.write.get(), F_DUPFD_CLOEXEC, 10);
  if (high < 0) return system_error("cannot make a pipe", errno);
  pipe.write = Descriptor(high);
  return pipe;
}

// Every library this process has open, so that the child sees the same ones.
std::vector<std::string> open_libraries() {
  std::vector<std::string> found;
  const auto collect = [](dl_phdr_info* info, std::size_t, void* into) {
    if (info->dlpi_name && info->dlpi_name[0] == '/')
      static_cast<std::vector<std::string>*>(into)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(collect, &found);
  return found;
}

Result<pid_t> start(const std::string& program, const std::string& path, int report, int complaint) {
  std::vector<std::string> words{program, path};
  for (std::string& library : open_libraries()) words.push_back(std::move(library));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, complaint, 2);
  posix_spawn_file_actions_adddup2(&actions, report, report_descriptor);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int error = posix_spawn(&child, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return system_error("cannot start " + program, error);
  return child;
}

// Reads one ready descriptor; closes it at the end. Bytes beyond `limit` are read and dropped.
void drain(Descriptor& from, std::string& into, std::size_t limit) {
  char bytes[4096];
  const ssize_t n = ::read(from.get(), bytes, sizeof bytes);
  if (n > 0) {
    if (into.size() < limit) into.append(bytes, std::min(static_cast<std::size_t>(n), limit - into.size()));
  } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
    from.close();
  }
}

int milliseconds_left(SteadyTime deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60000));
}

// Reads both pipes until the child has closed them. False: the deadline passed.
bool listen(Descriptor& report, std::string& said, Descriptor& complaint, std::string& complained,
            SteadyTime deadline) {
  while (report.get() >= 0 || complaint.get() >= 0) {
    pollfd waits[2] = {{report.get(), POLLIN, 0}, {complaint.get(), POLLIN, 0}};
    const int left = milliseconds_left(deadline);
    if (left == 0) return false;
    if (::poll(waits, 2, left) < 0 && errno != EINTR) return false;
    if (waits[0].revents != 0) drain(report, said, max_report);
    if (waits[1].revents != 0) drain(complaint, complained, max_complaint);
  }
  return true;
}

// The child's wait status; killed when it does not end by itself. -1: somebody else took it.
int end_of(pid_t child, SteadyTime deadline, bool& in_time) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, in_time ? WNOHANG : 0);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (in_time && milliseconds_left(deadline) == 0) {
      in_time = false;
      ::kill(child, SIGKILL);
    } else if (ended == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

// protobuf prints why before it throws; the exception itself says only that a check failed.
std::string protobuf_conflict(const std::string& complained) {
  constexpr std::string_view twice = "File already exists in database: ";
  if (const std::size_t at = complained.find(twice); at != std::string::npos) {
    const std::size_t begin = at + twice.size();
    return "carries its own copy of " + complained.substr(begin, complained.find('\n', begin) - begin) +
           ", which is already loaded; link the shared proto library";
  }
  constexpr std::string_view symbol = "conflicts with the existing symbol \"";
  if (const std::size_t at = complained.find(symbol); at != std::string::npos) {
    const std::size_t begin = at + symbol.size();
    return "carries its own definition of " + complained.substr(begin, complained.find('"', begin) - begin) +
           ", which another .proto file has defined; link the shared proto library or rename it";
  }
  return {};
}

std::string why_not(const ProbeReport& report, const std::string& complained, int status, bool in_time,
                    const PluginOptions& options) {
  if (std::string conflict = protobuf_conflict(complained); !conflict.empty()) return conflict;
  if (report.threw) {
    std::string text = "cannot be loaded: its initialiser threw " + report.thrown_type;
    if (!report.thrown_text.empty()) text += ": " + report.thrown_text;
    return text;
  }
  if (!in_time)
    return "cannot be loaded: opening it took longer than " +
           std::to_string(std::chrono::ceil<std::chrono::milliseconds>(options.probe_timeout).count()) +
           " ms (plugins.probe_timeout); its initialiser hangs";
  if (status != -1 && WIFSIGNALED(status)) {
    const char* const name = sigabbrev_np(WTERMSIG(status));
    return std::string("cannot be loaded: its initialiser crashed (SIG") + (name ? name : "?") + ')';
  }
  return "cannot be loaded: its initialiser ended the process (exit code " +
         std::to_string(status == -1 ? -1 : WEXITSTATUS(status)) + ')';
}

}  // namespace

Result<std::string> find_probe(const PluginOptions& options) {
  if (!options.probe_program.empty()) {
    if (options.probe_program.front() == '/' && ::access(options.probe_program.c_str(), X_OK) == 0)
      return options.probe_program;
    return Error(Errc::config, "plugins.probe_program: " + options.probe_program + " is no program at an absolute path",
                 Delivery::not_run);
  }
  Dl_info info{};
  std::error_code error;
  std::string looked;
  if (dladdr(reinterpret_cast<const void*>(&find_probe), &info) != 0 && info.dli_fname) {
    const fs::path beside = fs::canonical(info.dli_fname, error).parent_path();
    for (const char* place : {"tenon-probe", "../bin/tenon-probe", "../libexec/tenon/tenon-probe"}) {
      const std::string candidate = (beside / place).lexically_normal().string();
      if (::access(candidate.c_str(), X_OK) == 0) return candidate;
      looked += (looked.empty() ? "" : ", ") + candidate;
    }
  }
  return Error(Errc::config,
               "the program tenon-probe, which tries plugins in a child process, was not found (looked for " + looked +
                   "); install it, name it in plugins.probe_program, or set plugins.probe: false",
               Delivery::not_run);
}

Result<PluginReport> probe(const std::string& program, const std::string& path, const PluginOptions& options) {
  Result<Pipe> report = make_pipe();
  if (!report.ok()) return std::move(report).error();
  Result<Pipe> complaint = make_pipe();
  if (!complaint.ok()) return std::move(complaint).error();
  const SteadyTime deadline =
      std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::milliseconds>(options.probe_timeout);
  Result<pid_t> child = start(program, path, report->write.get(), complaint->write.get());
  if (!child.ok()) return std::move(child).error();
  report->write.close();
  complaint->write.close();

  std::string said, complained;
  bool in_time = listen(report->read, said, complaint->read, complained, deadline);
  if (!in_time) ::kill(*child, SIGKILL);
  const int status = end_of(*child, deadline, in_time);

  ProbeReport read = read_report(said);
  PluginReport plugin = std::move(read.plugin);
  plugin.path = path;
  // A child that reported everything and then died in its destructors would do the same to its host at exit.
  const bool well = read.complete && (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  if (!well && plugin.refusal.empty()) {
    plugin = PluginReport();
    plugin.path = path;
    plugin.refusal = path + ' ' + why_not(read, complained, status, in_time, options);
  }
  return plugin;
}

}  // namespace tenon::plugin_host
