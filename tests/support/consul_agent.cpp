#include "support/consul_agent.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "support/raw_socket.hpp"

namespace tenon::test {

namespace {

std::filesystem::path fresh_folder() {
  static std::atomic<int> made = 0;
  return std::filesystem::path(TENON_TEST_CONSUL_DIR) / (std::to_string(::getpid()) + "-" + std::to_string(++made));
}

std::string escape(const std::string& text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_') {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back(digits[static_cast<unsigned char>(c) >> 4]);
      out.push_back(digits[static_cast<unsigned char>(c) & 15]);
    }
  }
  return out;
}

}  // namespace

ConsulAgent::Program ConsulAgent::program() {
  const std::filesystem::path path = TENON_TEST_CONSUL_PROGRAM;
  std::error_code none;
  if (std::filesystem::exists(path, none)) return {path.string(), {}};
  std::string why = "tests/support/fetch_consul.sh has not been run";
  std::ifstream reason(path.parent_path() / "missing.txt");
  if (std::string line; std::getline(reason, line)) why = line;
  return {{}, "there is no Consul agent: " + why};
}

ConsulAgent::ConsulAgent(std::string settings) : folder_(fresh_folder()), settings_(std::move(settings)) {
  const std::vector<RawListener> listeners(3);
  for (const RawListener& each : listeners)
    ports_.push_back(static_cast<std::uint16_t>(std::stoi(each.address().substr(each.address().rfind(':') + 1))));
  std::filesystem::create_directories(folder_ / "data");
}

ConsulAgent::~ConsulAgent() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void ConsulAgent::start() {
  const std::filesystem::path file = folder_ / "agent.json";
  std::ofstream(file) << R"({"server": true, "bootstrap_expect": 1, "bind_addr": "127.0.0.1", "node_name": "test",
"data_dir": ")" << (folder_ / "data").string()
                      << R"(", "log_level": "warn", "enable_local_script_checks": false, "disable_update_check": true,
"performance": {"raft_multiplier": 1}, "leave_on_terminate": false, "limits": {"http_max_conns_per_client": 1000},
"ports": {"dns": -1, "grpc": -1, "serf_wan": -1, "http": )"
                      << ports_[0] << R"(, "server": )" << ports_[1] << R"(, "serf_lan": )" << ports_[2] << "}"
                      << (settings_.empty() ? "" : ", ") << settings_ << "}\n";
  // Into a file: it talks more than a pipe that nobody reads has room for, and would stand still.
  const std::string log = (folder_ / "log").string();
  process_ = std::make_unique<ChildProcess>(
      "/bin/sh", std::vector<std::string>{"-c", "exec \"$1\" agent -config-file \"$2\" >\"$3\" 2>&1", "sh",
                                          program().path, file.string(), log});
  const auto until = std::chrono::steady_clock::now() + patience;
  // It answers before it has a leader, and without one it knows nothing. With ACLs it does not show itself.
  const bool shows_itself = settings_.find("\"acl\"") == std::string::npos;
  while (!ask("GET", "/v1/status/leader").starts_with("200 \"127") ||
         (shows_itself && ask("GET", "/v1/health/service/consul").find("\"serfHealth\"") == std::string::npos)) {
    if (std::chrono::steady_clock::now() > until || !process_->running()) {
      std::ifstream said(log);
      throw std::runtime_error("Consul does not come up at " + address() + ": " +
                               std::string(std::istreambuf_iterator<char>(said), {}));
    }
    std::this_thread::sleep_for(Milliseconds(20));
  }
}

void ConsulAgent::wipe() {
  std::filesystem::remove_all(folder_ / "data");
  std::filesystem::create_directories(folder_ / "data");
}

void ConsulAgent::pause() {
  process_->signal(SIGSTOP);
  // Its threads stop one after the other.
  std::this_thread::sleep_for(Milliseconds(50));
}

std::string ConsulAgent::ask(const std::string& verb, const std::string& target, const std::string& body,
                             const std::string& token) const {
  RawSocket socket(address());
  std::string received;
  std::string request =
      verb + " " + target + " HTTP/1.0\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  if (!token.empty()) request += "X-Consul-Token: " + token + "\r\n";
  if (!socket.connected() || !socket.send(request + "\r\n" + body) || !socket.closed_within(2000, &received)) return {};
  const std::size_t end = received.find("\r\n\r\n");
  if (end == std::string::npos || received.size() < 12) return {};
  return received.substr(9, 3) + " " + received.substr(end + 4);
}

void ConsulAgent::clear() const {
  const std::string services = ask("GET", "/v1/agent/services");
  boost::json::error_code failed;
  const boost::json::value parsed =
      boost::json::parse(services.substr(std::min<std::size_t>(4, services.size())), failed);
  if (!failed && parsed.is_object())
    for (const auto& [id, service] : parsed.get_object())
      (void)ask("PUT", "/v1/agent/service/deregister/" + escape(std::string(id)));
  (void)ask("DELETE", "/v1/kv/?recurse");
}

}  // namespace tenon::test
