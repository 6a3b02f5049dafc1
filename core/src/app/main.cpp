#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tenon/app.hpp"

namespace tenon {

namespace {

constexpr int ended_well = 0;
constexpr int failed = 1;
constexpr int bad_start = 2;

void print_help(const char* program) {
  std::printf(
      "Usage: %s [--manifest FILE]\n\n"
      "Serves what FILE (default: manifest.yaml) describes until SIGTERM, SIGINT, SIGUSR2, SIGHUP or `tenon drain`,\n"
      "then finishes the calls in flight within server.grace. A second signal forces the end.\n\n"
      "  -m, --manifest FILE   the manifest\n"
      "  -h, --help            this text\n\n"
      "Exit codes: 0 ended well, 1 failed while running or calls were cut off, 2 bad command line or manifest.\n",
      program);
}

int refuse(const char* program, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", program, error.text().c_str());
  return error.code() == Errc::config || error.code() == Errc::already_exists ? bad_start : failed;
}

}  // namespace

int App::main(int argc, char** argv, const std::function<void(App&)>& setup) {
  const char* program = argc > 0 ? argv[0] : "tenon";
  std::string manifest = "manifest.yaml";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "-h" || argument == "--help") {
      print_help(program);
      return ended_well;
    }
    if ((argument == "-m" || argument == "--manifest") && i + 1 < argc) {
      manifest = argv[++i];
    } else if (argument.starts_with("--manifest=")) {
      manifest = argument.substr(11);
    } else {
      std::fprintf(stderr, "%s: unexpected \"%s\"; see --help\n", program, argv[i]);
      return bad_start;
    }
  }
  signal(SIGPIPE, SIG_IGN);
  auto app = from_manifest(manifest);
  if (!app.ok()) return refuse(program, app.error());
  (*app)->catch_signals();
  setup(**app);
  if (auto started = (*app)->start(); !started.ok())
    return started.error().code() == Errc::cancelled ? (*app)->wait() : refuse(program, started.error());
  for (const std::string& address : (*app)->addresses()) std::printf("listening on %s\n", address.c_str());
  std::fflush(stdout);
  return (*app)->wait();
}

}  // namespace tenon
