#include "support/zookeeper_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace tenon::test {

namespace {

constexpr const char* java = "/usr/bin/java";
constexpr const char* jars = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar";
constexpr int most_servers = 3;

sockaddr_in loopback(std::uint16_t port, const std::string& host = "127.0.0.1") {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) throw std::runtime_error(host + " is no address");
  return address;
}

std::filesystem::path fresh_folder() {
  static std::atomic<int> made = 0;
  return std::filesystem::path(TENON_TEST_ZOOKEEPER_DIR) / (std::to_string(::getpid()) + "-" + std::to_string(++made));
}

}  // namespace

ZookeeperServer::ZookeeperServer(std::string settings)
    : port_(free_port()), folder_(fresh_folder()), settings_(std::move(settings)) {
  if (!std::filesystem::exists("/usr/share/java/zookeeper.jar") || !std::filesystem::exists(java))
    throw std::runtime_error("ZooKeeper is missing; install the packages of .ci/packages.txt");
  std::filesystem::create_directories(folder_ / "data");
}

ZookeeperServer::~ZookeeperServer() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void ZookeeperServer::launch() {
  const std::filesystem::path file = folder_ / "zoo.cfg";
  std::ofstream(file) << "tickTime=500\ninitLimit=20\nsyncLimit=10\ndataDir=" << (folder_ / "data").string()
                      << "\nclientPortAddress=" << host_ << "\nclientPort=" << port_
                      << "\nadmin.enableServer=false\n4lw.commands.whitelist=*\nmaxClientCnxns=0\n"
                      << settings_;
  // Data need not survive the machine, so nothing waits for the disk.
  process_ = std::make_unique<ChildProcess>(
      java, std::vector<std::string>{"-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
                                     "-Dzookeeper.forceSync=no", "-cp", jars,
                                     "org.apache.zookeeper.server.quorum.QuorumPeerMain", file.string()});
}

void ZookeeperServer::await() {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (ask("srvr").find("Mode: ") == std::string::npos) {
    if (std::chrono::steady_clock::now() > until || !process_->running())
      throw std::runtime_error("ZooKeeper does not come up at " + address() + ": " +
                               process_->end(std::chrono::milliseconds(0)).err);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void ZookeeperServer::start() {
  launch();
  await();
}

void ZookeeperServer::pause() {
  process_->signal(SIGSTOP);
  // Its threads stop one after the other.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void ZookeeperServer::kill() { process_.reset(); }

void ZookeeperServer::wipe() {
  const std::filesystem::path data = folder_ / "data";
  std::string id;
  std::ifstream(data / "myid") >> id;
  std::filesystem::remove_all(data);
  std::filesystem::create_directories(data);
  if (!id.empty()) std::ofstream(data / "myid") << id << "\n";
}

std::string ZookeeperServer::ask(const std::string& word) const {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port_, host_);
  std::string answer;
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::send(connection, word.data(), word.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(word.size())) {
    for (pollfd ready{connection, POLLIN, 0}; ::poll(&ready, 1, 1000) == 1;) {
      char buffer[4096];
      const ssize_t got = ::read(connection, buffer, sizeof buffer);
      if (got <= 0) break;
      answer.append(buffer, static_cast<std::size_t>(got));
    }
  }
  ::close(connection);
  return answer;
}

std::vector<std::unique_ptr<ZookeeperServer>> ZookeeperServer::ensemble() {
  std::string members;
  for (int number = 1; number <= most_servers; ++number)
    members += "server." + std::to_string(number) + "=127.0.0.1:" + std::to_string(free_port()) + ":" +
               std::to_string(free_port()) + "\n";
  std::vector<std::unique_ptr<ZookeeperServer>> servers;
  for (int number = 1; number <= most_servers; ++number) {
    servers.push_back(std::make_unique<ZookeeperServer>(members));
    std::ofstream(servers.back()->folder_ / "data" / "myid") << number << "\n";
  }
  for (const auto& server : servers) server->launch();
  for (const auto& server : servers) server->await();
  return servers;
}

}  // namespace tenon::test
