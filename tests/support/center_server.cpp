#include "support/center_server.hpp"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "support/free_port.hpp"

namespace tenon::test {

namespace {

std::filesystem::path fresh_folder() {
  static std::atomic<int> made = 0;
  return std::filesystem::temp_directory_path() /
         ("tenon-center-" + std::to_string(::getpid()) + "-" + std::to_string(++made));
}

}  // namespace

CenterServer::CenterServer(std::chrono::milliseconds lease, std::string settings)
    : lease_(lease), port_(free_port()), folder_(fresh_folder()), settings_(std::move(settings)) {
  std::filesystem::create_directories(folder_);
}

CenterServer::~CenterServer() {
  process_.reset();
  std::error_code ignored;  // the system cleans its temporary directory
  std::filesystem::remove_all(folder_, ignored);
}

void CenterServer::start() {
  const std::filesystem::path file = folder_ / "center.yaml";
  std::ofstream(file) << "application: center\n"
                      << "log: { level: info, file: \"" << (folder_ / "log").string() << "\" }\n"
                      << "plugins: { search: [ \"" TENON_TEST_PLUGIN_DIR "\" ], probe: false,\n"
                      << "           load: [ transport-tcp, protocol-tenon, serialize-pb, registry-center ] }\n"
                      << "components: { service: { tenon.Center: { use: tenon.Center, lease: " << lease_.count()
                      << "ms, store: \"" << (folder_ / "store").string() << "\""
                      << (settings_.empty() ? "" : ", " + settings_) << " } } }\n"
                      << "server:\n"
                      << "  listen: [ { use: tcp, address: \"" << address() << "\", protocols: [ tenon ] } ]\n"
                      << "  services: [ { name: tenon.Center } ]\n";
  process_ =
      std::make_unique<ChildProcess>(TENON_TEST_PROGRAM, std::vector<std::string>{"center", "-c", file.string()});
  if (!process_->line().starts_with("listening on "))
    throw std::runtime_error("the center does not come up at " + address() + ": " +
                             process_->end(std::chrono::milliseconds(100)).err);
}

void CenterServer::kill() { process_.reset(); }

void CenterServer::wipe() { std::filesystem::remove_all(folder_ / "store"); }

void CenterServer::pause() {
  process_->signal(SIGSTOP);
  // Its threads stop one after the other.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

std::string CenterServer::log() const {
  std::ifstream file(folder_ / "log");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string CenterServer::registry(const std::string& address, std::chrono::milliseconds connect_timeout) const {
  return "{ use: center, server: \"" + address + "\", connect_timeout: " + std::to_string(connect_timeout.count()) +
         "ms }";
}

}  // namespace tenon::test
