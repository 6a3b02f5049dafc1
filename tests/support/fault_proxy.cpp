#include "support/fault_proxy.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/fault_flow.hpp"
#include "support/fault_socket.hpp"

namespace tenon::test {

namespace {

using Fate = FaultFlow::Fate;
using Time = FaultFlow::Time;

/// An accepted connection and the one to the server.
struct Link {
  Link(FaultSocket c, FaultSocket s, int n, const ConnectionFaults& faults, std::uint64_t seed,
       FaultProxy::Traffic& up, FaultProxy::Traffic& down, std::mutex& counting)
      : client(std::move(c)),
        server(std::move(s)),
        number(n),
        flows{{client.fd(), server.fd(), faults.to_server, seed, up, counting},
              {server.fd(), client.fd(), faults.to_client, seed + 1, down, counting}} {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void cut(Cut how) {
    if (how == Cut::none) return;
    if (how == Cut::reset) {
      client.reset();
      server.reset();
      gone = true;
      return;
    }
    for (FaultFlow& flow : flows) {
      flow.drop();
      flow.finish_now();
    }
  }
  void meet(FaultFlow& flow, Fate fate) {
    switch (fate) {
      case Fate::goes_on: return;
      case Fate::cut_half:
        flow.drop();
        flow.finish_now();
        return;
      case Fate::cut_close: return cut(Cut::close);
      case Fate::cut_reset: return cut(Cut::reset);
    }
  }
  bool over() const noexcept { return gone || (flows[0].over() && flows[1].over()); }

  FaultSocket client;
  FaultSocket server;
  const int number;
  FaultFlow flows[2];
  bool connected = false;
  bool gone = false;
};

}  // namespace

class FaultProxy::Work {
 public:
  Work(const std::string& upstream, const ConnectionFaults& faults, std::uint64_t seed)
      : upstream_(SocketAddress::of(upstream)), faults_(faults), seed_(seed) {
    here_ = upstream_.family() == AF_UNIX    ? SocketAddress::of(upstream_.text() + ".proxy")
            : upstream_.family() == AF_INET6 ? SocketAddress::of("[::1]:0")
                                             : SocketAddress::of("127.0.0.1:0");
    listener_ = listen_at(here_);
    if (here_.family() != AF_UNIX) {
      here_.size = sizeof here_.storage;
      if (::getsockname(listener_.fd(), here_.get(), &here_.size) != 0)
        throw std::runtime_error("the fault proxy does not know its port");
    }
    address_ = here_.text();
    wake_ = FaultSocket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_) throw std::runtime_error("the fault proxy has no descriptor left");
    thread_ = std::thread([this] { work(); });
  }
  ~Work() {
    run([this] { stopping_ = true; });
    thread_.join();
    if (here_.family() == AF_UNIX) ::unlink(address_.c_str() + 5);
  }

  /// Runs it between two turns of the thread, and waits for that.
  void run(std::function<void()> command) {
    std::packaged_task<void()> task(std::move(command));
    auto done = task.get_future();
    {
      const std::lock_guard lock(commands_mutex_);
      commands_.push_back(std::move(task));
    }
    const std::uint64_t one = 1;
    (void)!::write(wake_.fd(), &one, sizeof one);
    done.get();
  }
  const ConnectionFaults& of(int number) const {
    const auto found = particular_.find(number);
    return found == particular_.end() ? faults_ : found->second;
  }
  void apply() {
    for (const auto& link : links_) {
      const ConnectionFaults& faults = of(link->number);
      link->flows[0].set(faults.to_server);
      link->flows[1].set(faults.to_client);
    }
  }
  void refuse(bool refusing) {
    if (refusing == !listener_) return;
    if (refusing) {
      listener_.close();
      if (here_.family() == AF_UNIX) ::unlink(address_.c_str() + 5);
    } else {
      listener_ = listen_at(here_);
    }
  }

  const SocketAddress upstream_;
  ConnectionFaults faults_;
  std::map<int, ConnectionFaults> particular_;
  std::string address_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<FaultSocket> silent_;
  std::atomic<int> accepted_{0};
  mutable std::mutex counting_;
  Traffic up_;
  Traffic down_;

 private:
  void accept() {
    FaultSocket client = accept_from(listener_);
    if (!client) return;
    const int number = accepted_++;
    const ConnectionFaults& faults = of(number);
    if (faults.entry == ConnectionFaults::Entry::reset) return client.reset();
    if (faults.entry == ConnectionFaults::Entry::silent) return silent_.push_back(std::move(client));
    FaultSocket server = begin_connect(upstream_);
    if (!server) return client.reset();
    const std::uint64_t seed = seed_ + 2 * static_cast<std::uint64_t>(number);
    links_.push_back(
        std::make_unique<Link>(std::move(client), std::move(server), number, faults, seed, up_, down_, counting_));
  }
  static void connected(Link& link) {
    int error = 0;
    socklen_t size = sizeof error;
    (void)::getsockopt(link.server.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return link.cut(Cut::reset);
    link.connected = true;
  }
  void obey() {
    std::vector<std::packaged_task<void()>> commands;
    {
      const std::lock_guard lock(commands_mutex_);
      commands.swap(commands_);
    }
    std::uint64_t count = 0;
    (void)!::read(wake_.fd(), &count, sizeof count);
    for (auto& command : commands) command();
  }
  // Three entries for each link: client's input, server's input or connection, and whoever takes what is due.
  Time::time_point watch(std::vector<pollfd>& ends) const {
    Time::time_point next = Time::time_point::max();
    const auto now = Time::now();
    ends.assign({{wake_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}});
    for (const auto& link : links_) {
      if (!link->connected) {
        ends.insert(ends.end(), {{-1, 0, 0}, {-1, 0, 0}, {link->server.fd(), POLLOUT, 0}, {-1, 0, 0}});
        continue;
      }
      const int ends_of[2] = {link->client.fd(), link->server.fd()};
      for (int i = 0; i < 2; ++i) {
        const FaultFlow& flow = link->flows[i];
        const auto due = flow.due();
        if (due > now) next = std::min(next, due);
        ends.push_back({flow.wants_input() ? ends_of[i] : -1, POLLIN, 0});
        ends.push_back({due <= now ? ends_of[1 - i] : -1, POLLOUT, 0});
      }
    }
    return next;
  }
  static void wait(std::vector<pollfd>& ends, Time::time_point until) {
    timespec limit{};
    const timespec* bound = nullptr;
    if (until != Time::time_point::max()) {
      const auto left = std::max<std::chrono::nanoseconds>(until - Time::now(), std::chrono::nanoseconds(0));
      limit.tv_sec = left.count() / 1'000'000'000;
      limit.tv_nsec = left.count() % 1'000'000'000;
      bound = &limit;
    }
    if (::ppoll(ends.data(), ends.size(), bound, nullptr) < 0 && errno != EINTR)
      throw std::runtime_error("the fault proxy cannot poll");
  }
  void work() {
    std::vector<pollfd> ends;
    while (!stopping_) {
      wait(ends, watch(ends));
      if (ends[0].revents) obey();
      const std::size_t known = (ends.size() - 2) / 4;  // those accepted below come next time
      if (ends[1].revents && listener_) accept();
      for (std::size_t i = 0; i < known && i < links_.size(); ++i) {
        Link& link = *links_[i];
        const pollfd* seen = &ends[2 + 4 * i];
        if (link.gone) continue;
        if (!link.connected && seen[2].revents) connected(link);
        if (!link.connected) continue;
        for (int f = 0; f < 2 && !link.gone; ++f) {
          FaultFlow& flow = link.flows[f];
          if (seen[2 * f].revents && flow.wants_input()) link.meet(flow, flow.read());
          if (!link.gone) link.meet(flow, flow.write());
        }
      }
      std::erase_if(links_, [](const auto& link) { return link->over(); });
    }
  }

  const std::uint64_t seed_;
  SocketAddress here_;
  FaultSocket listener_;
  FaultSocket wake_;
  bool stopping_ = false;
  std::mutex commands_mutex_;
  std::vector<std::packaged_task<void()>> commands_;
  std::thread thread_;
};

FaultProxy::FaultProxy(const std::string& upstream, const ConnectionFaults& faults, std::uint64_t seed)
    : work_(std::make_unique<Work>(upstream, faults, seed)) {}

FaultProxy::~FaultProxy() = default;

const std::string& FaultProxy::address() const noexcept { return work_->address_; }

void FaultProxy::set(const ConnectionFaults& faults) {
  work_->run([&] {
    work_->faults_ = faults;
    work_->apply();
  });
}

void FaultProxy::set(int number, const ConnectionFaults& faults) {
  work_->run([&] {
    work_->particular_[number] = faults;
    work_->apply();
  });
}

void FaultProxy::silence(bool silent) {
  work_->run([&] {
    const auto stall = [silent](ConnectionFaults& faults) { faults.to_server.stall = faults.to_client.stall = silent; };
    stall(work_->faults_);
    for (auto& [number, faults] : work_->particular_) stall(faults);
    for (const auto& link : work_->links_)
      for (FaultFlow& flow : link->flows) flow.stall(silent);
  });
}

void FaultProxy::cut(Cut how) {
  work_->run([&] {
    for (const auto& link : work_->links_) link->cut(how);
    if (how != Cut::none) work_->silent_.clear();
  });
}

void FaultProxy::refuse(bool refusing) {
  work_->run([&] { work_->refuse(refusing); });
}

int FaultProxy::accepted() const noexcept { return work_->accepted_; }

std::size_t FaultProxy::open() const {
  std::size_t count = 0;
  work_->run([&] { count = work_->links_.size() + work_->silent_.size(); });
  return count;
}

FaultProxy::Traffic FaultProxy::to_server() const {
  const std::lock_guard lock(work_->counting_);
  return work_->up_;
}

FaultProxy::Traffic FaultProxy::to_client() const {
  const std::lock_guard lock(work_->counting_);
  return work_->down_;
}

}  // namespace tenon::test
