// tenon-probe PLUGIN [LIBRARY...]: opens LIBRARY... (what the host has open), then PLUGIN, as the host would, and
// reports on descriptor 3 (standard output when that is closed). Whatever PLUGIN's initialisers do, they do it here.
// Exit status: 0 reported, 2 wrong use; anything else is the plugin's doing.

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "plugin_host/open_plugin.hpp"
#include "plugin_host/probe_report.hpp"

namespace {

using namespace tenon::plugin_host;

int report_to = STDOUT_FILENO;

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(report_to, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string current_exception_type() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (!type) return "an exception";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && name ? name.get() : type->name();
}

[[noreturn]] void report_exception() {
  std::string text;
  const std::string type = current_exception_type();
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      text = e.what();
    } catch (...) {
      text.clear();
    }
    say(report_of_exception(type, text));
  }
  _exit(3);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    constexpr std::string_view usage =
        "usage: tenon-probe PLUGIN [LIBRARY...]\nOpens LIBRARY... and then PLUGIN, and reports what PLUGIN offers.\n";
    return ::write(STDERR_FILENO, usage.data(), usage.size()) < 0 ? 2 : 2;
  }
  if (::fcntl(report_descriptor, F_GETFD) >= 0) {
    report_to = report_descriptor;
    ::fcntl(report_to, F_SETFD, FD_CLOEXEC);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::set_terminate(&report_exception);
  // One that cannot be opened here (a compiler's runtime, say) is no reason to refuse the plugin.
  for (int i = 2; i < count; ++i) dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);

  const tenon::Result<OpenPlugin> opened = open_plugin(arguments[1]);
  if (!opened.ok()) {
    say(report_of(opened.error()));
    return 0;
  }
  const auto entries = collect(*opened);
  say(entries.ok() ? report_of(*opened, *entries) : report_of(entries.error()));
  return 0;
}
