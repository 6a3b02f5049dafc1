#pragma once
// A TCP relay on loopback between a client and a server: counts bytes, cuts and joins them, or goes silent.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tenon::test {

/// Threads: its own does the work; every function from any thread. Each accepted connection gets one of its own to
/// `upstream` ("127.0.0.1:PORT").
class TcpRelay {
 public:
  enum class Pieces {
    as_read,   ///< forwards what one read gave
    one_byte,  ///< one byte per send, the first of each direction with a pause between them
    random,    ///< pseudo-random sizes, mostly tiny
    joined,    ///< waits for more until nothing has arrived for 3 ms
  };
  /// One direction, all connections.
  struct Traffic {
    std::uint64_t bytes = 0;
    std::uint64_t sends = 0;
  };

  explicit TcpRelay(const std::string& upstream, Pieces pieces = Pieces::as_read)
      : upstream_(at(static_cast<std::uint16_t>(std::atoi(upstream.substr(upstream.rfind(':') + 1).c_str())))),
        pieces_(pieces),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in here = at(0);
    socklen_t size = sizeof here;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&here), size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size) != 0)
      throw std::runtime_error("the relay cannot listen on loopback");
    address_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
    thread_ = std::thread([this] { work(); });
  }
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;
  ~TcpRelay() {
    stopping_ = true;
    thread_.join();
    pairs_.clear();
    ::close(listener_);
  }

  const std::string& address() const noexcept { return address_; }
  /// Silent: connections stay open and new ones are accepted by the kernel, but not a byte moves once this returns.
  void silence(bool silent) {
    silent_ = silent;
    while (silent && !resting_) std::this_thread::yield();
  }
  int accepted() const noexcept { return accepted_; }
  /// Exact: what the peer has received is counted.
  Traffic to_server() const { return traffic(up_); }
  Traffic to_client() const { return traffic(down_); }

 private:
  using Time = std::chrono::steady_clock;
  static constexpr std::size_t most_held = 1u << 20;
  static constexpr std::uint64_t paced_bytes = 2048;

  Traffic traffic(const Traffic& counter) const {
    const std::lock_guard lock(counting_);
    return counter;
  }
  struct Flow {
    int from;
    int to;
    Traffic& counter;
    std::string held{};
    std::size_t sent = 0;  // of `held`
    std::uint64_t total = 0;
    bool ended = false;
    Time::time_point last_read{};
    std::size_t waiting() const noexcept { return held.size() - sent; }
  };
  struct Pair {
    Pair(int c, int s, Traffic& up, Traffic& down) : client(c), server(s), flows{{c, s, up}, {s, c, down}} {}
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    ~Pair() {
      ::close(client);
      ::close(server);
    }
    int client;
    int server;
    Flow flows[2];
    bool broken = false;
  };

  static sockaddr_in at(std::uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void accept() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(server, reinterpret_cast<const sockaddr*>(&upstream_), sizeof upstream_) != 0) {
      ::close(client);
      ::close(server);
      return;
    }
    (void)::fcntl(server, F_SETFL, O_NONBLOCK);
    const int on = 1;
    for (const int end : {client, server}) (void)::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    pairs_.push_back(std::make_unique<Pair>(client, server, up_, down_));
    ++accepted_;
  }

  std::size_t piece(const Flow& flow) {
    if (pieces_ == Pieces::one_byte) return 1;
    if (pieces_ != Pieces::random) return flow.waiting();
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t bits = random_ >> 33;
    const std::size_t most = bits % 4 != 0 ? 5 : flow.total < paced_bytes * 8 ? 40 : 3000;
    return std::min<std::size_t>(1 + (bits >> 2) % most, flow.waiting());
  }
  bool due(const Flow& flow) const {
    if (flow.waiting() == 0) return false;
    return pieces_ != Pieces::joined || flow.ended || flow.waiting() >= most_held / 2 ||
           Time::now() - flow.last_read >= std::chrono::milliseconds(3);
  }

  void read(Pair& pair, Flow& flow) {
    char buffer[16384];
    const ssize_t got = ::recv(flow.from, buffer, sizeof buffer, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) pair.broken = true;
    if (got <= 0) {
      flow.ended = true;
      return;
    }
    flow.held.append(buffer, static_cast<std::size_t>(got));
    flow.last_read = Time::now();
  }
  bool send(Pair& pair, Flow& flow) {
    const std::lock_guard lock(counting_);
    const ssize_t put = ::send(flow.to, flow.held.data() + flow.sent, piece(flow), MSG_NOSIGNAL);
    if (put < 0) {
      pair.broken = pair.broken || (errno != EAGAIN && errno != EINTR);
      return false;
    }
    flow.sent += static_cast<std::size_t>(put);
    flow.total += static_cast<std::uint64_t>(put);
    flow.counter.bytes += static_cast<std::uint64_t>(put);
    ++flow.counter.sends;
    return true;
  }
  void write(Pair& pair, Flow& flow) {
    for (int turn = 0; turn < 512 && due(flow); ++turn) {
      if (!send(pair, flow)) return;
      if (pieces_ == Pieces::one_byte && flow.total < paced_bytes)
        std::this_thread::sleep_for(std::chrono::microseconds(20));  // so that the receiver sees it alone
      if (pieces_ == Pieces::random && turn % 16 == 15) std::this_thread::yield();
    }
    if (flow.waiting() > 0) return;
    flow.held.clear();
    flow.sent = 0;
  }

  void work() {
    std::vector<pollfd> ends;
    while (!stopping_) {
      resting_ = silent_.load();
      if (resting_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      ends.assign(1, {listener_, POLLIN, 0});
      for (const auto& pair : pairs_)
        for (const Flow& flow : pair->flows) {
          const bool wants = !flow.ended && flow.waiting() < most_held;
          ends.push_back({wants ? flow.from : -1, POLLIN, 0});
          ends.push_back({due(flow) ? flow.to : -1, POLLOUT, 0});
        }
      if (::poll(ends.data(), ends.size(), pieces_ == Pieces::joined ? 1 : 5) < 0 || silent_) continue;
      std::size_t end = 1;
      for (const auto& pair : pairs_)
        for (Flow& flow : pair->flows) {
          if (ends[end++].revents) read(*pair, flow);
          ++end;
          write(*pair, flow);
        }
      std::erase_if(pairs_, [](const auto& pair) {
        // Either end is enough: these peers close both directions at once.
        bool over = pair->broken;
        for (const Flow& flow : pair->flows) over = over || (flow.ended && flow.waiting() == 0);
        return over;
      });
      if (ends[0].revents) accept();
    }
  }

  const sockaddr_in upstream_;
  const Pieces pieces_;
  const int listener_;
  std::string address_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> silent_{false};
  std::atomic<bool> resting_{false};  // the thread has seen silent_
  std::atomic<int> accepted_{0};
  mutable std::mutex counting_;
  Traffic up_;
  Traffic down_;
  std::vector<std::unique_ptr<Pair>> pairs_;
  std::uint64_t random_ = 20;
  std::thread thread_;
};

}  // namespace tenon::test
