// A center that can be killed: serves with the store and the lease (ms) it is told, says where, until it is ended.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "center_app.hpp"

namespace {

int fail(const tenon::Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  tenon::center::CenterOptions options;
  options.store = argv[1];
  options.lease = std::chrono::milliseconds(std::atoi(argv[2]));
  options.settle = options.lease;
  auto chosen = tenon::test::server_options("tcp", argv[3]);
  auto app = tenon::App::create(std::move(chosen));
  if (!app.ok()) return fail(app.error());
  tenon::Executor& control = *(*app)->executors().front();
  auto center = tenon::center::Center::create(options, {control, (*app)->log(), control.clock()});
  if (!center.ok()) return fail(center.error());
  (*app)->provide(std::shared_ptr<tenon::Service>(std::move(*center)));
  if (auto started = (*app)->start(); !started.ok()) return fail(started.error());
  std::printf("%s\n", (*app)->addresses()[0].c_str());
  std::fflush(stdout);
  return (*app)->wait();
}
