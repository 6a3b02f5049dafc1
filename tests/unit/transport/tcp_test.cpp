#include "tcp_transport.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "connector.hpp"
#include "support/descriptors.hpp"
#include "support/recording_log.hpp"
#include "support/stream_tasks.hpp"
#include "support/test_executor.hpp"
#include "tenon/scope.hpp"

namespace tenon::tcp {
namespace {

using test::RecordingLog;
using test::TestExecutor;
using namespace std::chrono_literals;

TimePoint within(Duration time) { return std::chrono::steady_clock::now() + time; }

/// Listens and never accepts: once its queue is full, connects get no answer.
class BlackHole {
 public:
  BlackHole() : fd_(open_socket(AF_INET)) {
    SocketAddress any = *literal_address(*parse_address("127.0.0.1:0"));
    EXPECT_EQ(::bind(fd_.get(), any.get(), any.size), 0);
    EXPECT_EQ(::listen(fd_.get(), 0), 0);
    bound_ = local_address(fd_.get());
    for (Fd& filler : fillers_) {
      filler = open_socket(AF_INET);
      (void)::connect(filler.get(), bound_.get(), bound_.size);
    }
  }
  std::string address() const { return to_text(bound_); }

 private:
  Fd fd_;
  SocketAddress bound_;
  Fd fillers_[4];
};

class Tcp : public testing::Test {
 protected:
  void SetUp() override { transport_ = make({}); }
  std::unique_ptr<TcpTransport> make(const TcpOptions& options) {
    auto made = TcpTransport::create(options, Environment{loop_, log_, loop_.clock()});
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
  auto connect(const std::string& address, Duration time = 10s) {
    return loop_.run([&] { return transport_->connect(address, loop_, within(time)); });
  }
  auto listen(const std::string& address) {
    return loop_.call([&] { return transport_->listen(address, loop_); });
  }
  auto accept(Listener& listener) {
    return loop_.run([&] { return listener.accept(loop_); });
  }
  template <class T>
  void drop(T& owner) {
    loop_.call([&] { owner.reset(); });
  }

  RecordingLog log_;
  TestExecutor loop_;
  std::unique_ptr<TcpTransport> transport_;
};

TEST_F(Tcp, GivesUpAtTheDeadlineAndClosesTheSocket) {
  BlackHole hole;
  const std::size_t before = test::open_descriptors();
  const auto start = std::chrono::steady_clock::now();
  const auto late = connect(hole.address(), 150ms);
  const auto took = std::chrono::steady_clock::now() - start;
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Errc::deadline_exceeded);
  EXPECT_EQ(late.error().delivery(), Delivery::not_run);
  EXPECT_NE(late.error().text().find(hole.address() + ": not connected within 1"), std::string::npos)
      << late.error().text();
  EXPECT_GE(took, 150ms);
  EXPECT_LT(took, 2s);
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST_F(Tcp, GivesUpManyAtOnceWithoutLeaking) {
  BlackHole hole;
  const std::size_t before = test::open_descriptors();
  const auto results = loop_.run([&] {
    std::vector<Task<Result<std::unique_ptr<ByteStream>>>> tasks;
    for (int i = 0; i < 200; ++i) tasks.push_back(transport_->connect(hole.address(), loop_, within(100ms)));
    return all(std::move(tasks));
  });
  for (const auto& result : results) EXPECT_EQ(result.error().code(), Errc::deadline_exceeded);
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST_F(Tcp, FindsAnUnknownHostUnavailableWithoutStoppingTheLoop) {
  std::atomic<bool> done{false};
  std::atomic<int> turns{0};
  std::thread ticker([&] {
    while (!done) {
      loop_.call([&] { ++turns; });
      std::this_thread::sleep_for(5ms);
    }
  });
  const auto start = std::chrono::steady_clock::now();
  const auto unknown = connect("no-such-host.invalid:4080", 500ms);
  const auto took = std::chrono::steady_clock::now() - start;
  done = true;
  ticker.join();
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().delivery(), Delivery::not_run);
  const std::string& text = unknown.error().text();
  const bool answered = unknown.error().code() == Errc::unavailable;  // else the name servers are out of reach
  EXPECT_TRUE(answered || unknown.error().code() == Errc::deadline_exceeded) << text;
  const std::string expected = answered ? ": unknown host (" : ": the host name was not resolved within";
  EXPECT_NE(text.find("no-such-host.invalid:4080" + expected), std::string::npos) << text;
  EXPECT_LT(took, 2s);
  EXPECT_TRUE(took < 100ms || turns > 5);
}

/// Connects to a name that has these addresses.
Task<Result<std::unique_ptr<ByteStream>>> connect_by_name(std::vector<SocketAddress> addresses, Executor& home,
                                                          TimePoint deadline) {
  const HostPort to{"several", 4080, HostPort::Form::name};
  const TcpOptions options;
  Connector connector(to, home, deadline, options, std::move(addresses));
  co_return co_await connector;
}

SocketAddress literal(const std::string& text) { return *literal_address(*parse_address(text)); }

TEST_F(Tcp, TriesEveryAddressOfAName) {
  BlackHole hole;
  auto listener = listen("127.0.0.1:0");
  ASSERT_TRUE(listener.ok());
  const std::string good = (*listener)->address();
  const std::vector<SocketAddress> addresses{literal("[::1]:1"), literal(hole.address()), literal("127.0.0.1:1"),
                                             literal(good)};
  const std::size_t before = test::open_descriptors();
  auto stream = loop_.run([&] { return connect_by_name(addresses, loop_, within(600ms)); });
  ASSERT_TRUE(stream.ok()) << stream.error().text();
  EXPECT_EQ((*stream)->info().peer, good);
  drop(*stream);
  EXPECT_EQ(test::open_descriptors(), before);
  drop(*listener);
}

TEST_F(Tcp, SaysWhatBecameOfEveryAddress) {
  BlackHole hole;
  const std::vector<SocketAddress> addresses{literal("[::1]:1"), literal(hole.address()), literal("127.0.0.1:1")};
  const auto refused = loop_.run([&] { return connect_by_name(addresses, loop_, within(300ms)); });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_EQ(refused.error().text(), "several:4080: [::1]:1 connection refused; " + hole.address() +
                                        " no answer; 127.0.0.1:1 connection refused");
  const auto late = loop_.run([&] { return connect_by_name({literal(hole.address())}, loop_, within(100ms)); });
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Errc::deadline_exceeded);
}

TEST_F(Tcp, ListensOnBothFamilies) {
  auto listener = listen("[::]:0");
  ASSERT_TRUE(listener.ok()) << listener.error().text();
  const std::string port = (*listener)->address().substr((*listener)->address().rfind(':'));
  for (const std::string host : {"127.0.0.1", "[::1]"}) {
    auto client = connect(host + port);
    ASSERT_TRUE(client.ok()) << client.error().text();
    auto server = accept(**listener);
    ASSERT_TRUE(server.ok());
    EXPECT_EQ((*server)->info().peer, (*client)->info().local);
    EXPECT_EQ((*server)->info().local, host + port);
    drop(*client);
    drop(*server);
  }
  drop(*listener);
}

TEST_F(Tcp, NamesTheAddressItCannotBind) {
  auto first = listen("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const auto second = listen((*first)->address());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().text(), (*first)->address() + ": address already in use");
  drop(*first);
  const auto foreign = listen("192.0.2.1:0");
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(foreign.error().code(), Errc::unavailable);
  const auto zone = listen("[fe80::1%nosuch0]:80");
  ASSERT_FALSE(zone.ok());
  EXPECT_EQ(zone.error().code(), Errc::unavailable);
}

TEST_F(Tcp, RefusesBadAddressesAndOptions) {
  EXPECT_EQ(transport_->check("localhost:80x").error().code(), Errc::config);
  EXPECT_TRUE(transport_->check("no-such-host.invalid:80").ok());
  EXPECT_EQ(connect("localhost").error().code(), Errc::config);
  EXPECT_EQ(connect("localhost:0").error().code(), Errc::config);
  EXPECT_EQ(listen("localhost").error().code(), Errc::config);
  const Environment environment{loop_, log_, loop_.clock()};
  TcpOptions options;
  options.backlog = 0;
  EXPECT_EQ(TcpTransport::create(options, environment).error().code(), Errc::config);
  options = {};
  options.user_timeout = -1s;
  EXPECT_EQ(TcpTransport::create(options, environment).error().code(), Errc::config);
  options = {};
  options.send_buffer = ByteSize(std::uint64_t{1} << 40);
  EXPECT_EQ(TcpTransport::create(options, environment).error().code(), Errc::config);
}

/// The sockets of this process that are connected.
std::vector<int> connected_sockets() {
  std::vector<int> found;
  for (int fd = 3; fd < 256; ++fd) {
    SocketAddress peer;
    if (::getpeername(fd, peer.get(), &peer.size) == 0 && peer.family() == AF_INET) found.push_back(fd);
  }
  return found;
}

int option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  (void)::getsockopt(fd, level, name, &value, &size);
  return value;
}

TEST_F(Tcp, SetsTheOptionsOfBothEnds) {
  TcpOptions options;
  options.user_timeout = 7s;
  options.keepalive = 12s;
  options.send_buffer = ByteSize(70000);
  options.receive_buffer = ByteSize(80000);
  transport_ = make(options);
  auto listener = listen("127.0.0.1:0");
  ASSERT_TRUE(listener.ok());
  auto client = connect((*listener)->address());
  ASSERT_TRUE(client.ok());
  auto server = accept(**listener);
  ASSERT_TRUE(server.ok());
  const std::vector<int> sockets = connected_sockets();
  ASSERT_EQ(sockets.size(), 2u);
  for (const int fd : sockets) {
    EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 7000);
    EXPECT_EQ(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 12);
    EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 4);
    EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
    EXPECT_EQ(option(fd, SOL_SOCKET, SO_SNDBUF), 140000);  // the kernel doubles it
    EXPECT_EQ(option(fd, SOL_SOCKET, SO_RCVBUF), 160000);
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  }
  drop(*client);
  drop(*server);
  drop(*listener);
}

TEST_F(Tcp, ReportsAReset) {
  auto listener = listen("127.0.0.1:0");
  auto client = connect((*listener)->address());
  auto server = accept(**listener);
  ASSERT_TRUE(client.ok() && server.ok());
  auto reading = std::async(std::launch::async, [&] { return loop_.run([&] { return test::read_all(**client); }); });
  for (const int fd : connected_sockets()) {
    SocketAddress local = local_address(fd);
    if (to_text(local) != (*server)->info().local) continue;
    const linger reset{1, 0};
    ASSERT_EQ(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
  }
  drop(*server);
  const test::ReadAll read = reading.get();
  EXPECT_EQ(read.last, IoResult::Status::failed);
  EXPECT_EQ(read.error, ECONNRESET);
  drop(*client);
  drop(*listener);
}

TEST_F(Tcp, WaitsOutALackOfDescriptors) {
  auto listener = listen("127.0.0.1:0");
  ASSERT_TRUE(listener.ok());
  auto client = connect((*listener)->address());
  ASSERT_TRUE(client.ok());
  rlimit normal;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &normal), 0);
  int lowest_free = ::dup(0);
  ::close(lowest_free);
  const rlimit none{static_cast<rlim_t>(lowest_free), normal.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  auto accepting = std::async(std::launch::async, [&] { return accept(**listener); });
  std::this_thread::sleep_for(350ms);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &normal), 0);
  auto server = accepting.get();
  EXPECT_TRUE(server.ok());
  EXPECT_GE(log_.count("too many open files"), 2u) << "Linux spells it otherwise?";
  EXPECT_LE(log_.count("too many open files"), 6u);
  drop(*client);
  drop(*server);
  drop(*listener);
}

TEST_F(Tcp, EndsAnAcceptThatWaitsForDescriptors) {
  auto listener = listen("127.0.0.1:0");
  auto client = connect((*listener)->address());
  ASSERT_TRUE(client.ok());
  rlimit normal;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &normal), 0);
  const rlimit none{3, normal.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  auto accepting = std::async(std::launch::async, [&] { return accept(**listener); });
  while (log_.lines().empty()) std::this_thread::sleep_for(1ms);
  drop(*listener);
  const auto ended = accepting.get();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &normal), 0);
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code(), Errc::cancelled);
  drop(*client);
}

TEST_F(Tcp, SaysWhenItCannotOpenASocket) {
  rlimit normal;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &normal), 0);
  const rlimit none{3, normal.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto failed = connect("127.0.0.1:1");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &normal), 0);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().text(),
            "127.0.0.1:1: cannot open a socket: too many open files (raise the limit with ulimit -n)");
}

TEST_F(Tcp, NeverConnectsToItself) {
  // The port a client is given may be the one it wants to reach. Forced by asking for every ephemeral port in turn.
  auto listener = listen("127.0.0.1:0");
  ASSERT_TRUE(listener.ok());
  const std::string address = (*listener)->address();
  drop(*listener);
  const int met = loop_.run([&]() -> Task<int> {
    int connected = 0;
    for (int i = 0; i < 20000; ++i) {
      auto connecting = transport_->connect(address, loop_, within(1s));
      const auto stream = co_await connecting;
      connected += stream.ok() ? 1 : 0;
    }
    co_return connected;
  });
  EXPECT_EQ(met, 0);
}

}  // namespace
}  // namespace tenon::tcp
