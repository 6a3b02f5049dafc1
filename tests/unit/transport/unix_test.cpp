#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <future>

#include "support/descriptors.hpp"
#include "support/recording_log.hpp"
#include "support/stream_tasks.hpp"
#include "support/test_executor.hpp"
#include "tcp_transport.hpp"
#include "unix_address.hpp"
#include "unix_file.hpp"

namespace tenon::tcp {
namespace {

using test::RecordingLog;
using test::TestExecutor;
using namespace std::chrono_literals;

class Unix : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "tenon-unix-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    file_ = folder_ + "/s.sock";
    address_ = "unix:" + file_;
    transport_ = make({});
  }
  void TearDown() override {
    ::unlink(file_.c_str());
    EXPECT_EQ(::rmdir(folder_.c_str()), 0) << "something was left in the folder";
  }
  std::unique_ptr<TcpTransport> make(const TcpOptions& options) {
    auto made = TcpTransport::create(options, Environment{loop_, log_, loop_.clock()});
    EXPECT_TRUE(made.ok()) << made.error().text();
    return std::move(*made);
  }
  auto listen(const std::string& address) {
    return loop_.call([&] { return transport_->listen(address, loop_); });
  }
  auto connect(const std::string& address, Duration time = 10s) {
    return loop_.run([&] { return transport_->connect(address, loop_, std::chrono::steady_clock::now() + time); });
  }
  auto accept(Listener& listener) {
    return loop_.run([&] { return listener.accept(loop_); });
  }
  template <class T>
  void drop(T& owner) {
    loop_.call([&] { owner.reset(); });
  }
  bool exists() const {
    struct stat found {};
    return ::lstat(file_.c_str(), &found) == 0;
  }
  int mode() const {
    struct stat found {};
    return ::lstat(file_.c_str(), &found) == 0 ? static_cast<int>(found.st_mode & 0777) : -1;
  }
  /// What a server that was killed leaves: a file nobody listens behind.
  void leave_stale_file() {
    const Fd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto at = parse_unix(address_);
    ASSERT_EQ(::bind(dead.get(), at->get(), at->size), 0);
  }

  std::string folder_;
  std::string file_;
  std::string address_;
  RecordingLog log_;
  TestExecutor loop_;
  std::unique_ptr<TcpTransport> transport_;
};

TEST(UnixAddress, TakesApartWhatIsWellFormed) {
  for (const std::string text : {"unix:/run/a.sock", "unix:/a b:0.0.0.0,80", "unix:@name", "unix:@/odd@name"}) {
    const auto parsed = parse_unix(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    EXPECT_EQ(unix_text(*parsed), text);
    EXPECT_EQ(to_text(*parsed), text);
    EXPECT_EQ(unix_file(*parsed), text[5] == '@' ? "" : text.substr(5));
  }
  EXPECT_FALSE(is_unix("localhost:80"));
  EXPECT_TRUE(is_unix("unix:80"));
}

TEST(UnixAddress, RefusesTheRestAndSaysWhy) {
  struct Case {
    std::string text;
    const char* why;
  };
  for (const Case& c : {Case{"unix:", "unix:/absolute/path.sock"}, Case{"unix:run/a.sock", "unix:/absolute/path.sock"},
                        Case{"unix:80", "unix:/absolute/path.sock"}, Case{"unix:/", "name is missing"},
                        Case{"unix:@", "name is missing"}, Case{"unix:/a\nb", "control characters"},
                        Case{std::string("unix:/a\0b", 9), "control characters"},
                        Case{"unix:/" + std::string(107, 'a'), "the path has 108 bytes; the kernel takes 107"},
                        Case{"unix:@" + std::string(107, 'a'), "the kernel takes 107"}}) {
    const auto parsed = parse_unix(c.text);
    ASSERT_FALSE(parsed.ok()) << c.text;
    EXPECT_EQ(parsed.error().code(), Errc::config);
    EXPECT_NE(parsed.error().text().find(c.why), std::string::npos) << parsed.error().text();
  }
  EXPECT_TRUE(parse_unix("unix:/" + std::string(106, 'a')).ok());
  EXPECT_TRUE(parse_unix("unix:@" + std::string(106, 'a')).ok());
  EXPECT_LT(parse_unix("unix:/" + std::string(1u << 20, 'a')).error().text().size(), 500u);
}

TEST(UnixAddress, ReadsModesInOctal) {
  EXPECT_EQ(*parse_socket_mode("0600"), 0600u);
  EXPECT_EQ(*parse_socket_mode("660"), 0660u);
  EXPECT_EQ(*parse_socket_mode("0"), 0u);
  for (const char* bad : {"", "0800", "rw-", "01777", "0o600", "-1", "00600", " 600"})
    EXPECT_EQ(parse_socket_mode(bad).error().code(), Errc::config) << bad;
}

TEST_F(Unix, ListensWhereItWasToldAndCleansUp) {
  auto listener = listen(address_);
  ASSERT_TRUE(listener.ok()) << listener.error().text();
  EXPECT_EQ((*listener)->address(), address_);
  EXPECT_EQ(mode(), 0600);
  auto client = connect(address_);
  ASSERT_TRUE(client.ok()) << client.error().text();
  auto server = accept(**listener);
  ASSERT_TRUE(server.ok());
  const std::string user = "uid:" + std::to_string(::getuid());
  const std::string process = "unix:pid=" + std::to_string(::getpid());
  EXPECT_EQ((*client)->info().peer, address_);
  EXPECT_EQ((*client)->info().local, process);
  EXPECT_EQ((*client)->info().identity, user);
  EXPECT_EQ((*server)->info().local, address_);
  EXPECT_EQ((*server)->info().peer, process);
  EXPECT_EQ((*server)->info().identity, user);
  loop_.call([&] { (*listener)->close(); });
  EXPECT_FALSE(exists());
  EXPECT_EQ(loop_.run([&] { return test::write_all(**client, "still here"); }), 0);
  EXPECT_EQ(loop_.run([&] { return test::read_all(**server, 10); }).bytes, "still here");
  drop(*client);
  drop(*server);
  drop(*listener);
}

TEST_F(Unix, GivesTheFileTheModeAskedForWhateverTheUmask) {
  const mode_t normal = ::umask(0077);
  for (const char* wanted : {"0600", "0660", "0666", "0777"}) {
    TcpOptions options;
    options.socket_mode = wanted;
    transport_ = make(options);
    auto listener = listen(address_);
    EXPECT_TRUE(listener.ok());
    EXPECT_EQ(mode(), static_cast<int>(*parse_socket_mode(wanted)));
    drop(*listener);
  }
  ::umask(0);
  TcpOptions options;
  transport_ = make(options);
  auto listener = listen(address_);
  ::umask(normal);
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ(mode(), 0600);
  drop(*listener);
  options.socket_mode = "rw";
  EXPECT_EQ(TcpTransport::create(options, Environment{loop_, log_, loop_.clock()}).error().code(), Errc::config);
}

TEST_F(Unix, ReplacesWhatADeadServerLeft) {
  leave_stale_file();
  const auto refused = connect(address_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), address_ + ": connection refused (nobody listens there any more)");
  auto listener = listen(address_);
  ASSERT_TRUE(listener.ok()) << listener.error().text();
  auto client = connect(address_);
  EXPECT_TRUE(client.ok());
  drop(*client);
  drop(*listener);
  EXPECT_FALSE(exists());
}

TEST_F(Unix, LeavesALiveServerAlone) {
  auto first = listen(address_);
  ASSERT_TRUE(first.ok());
  const auto second = listen(address_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), Errc::unavailable);
  EXPECT_EQ(second.error().text(), address_ + ": address already in use");
  EXPECT_TRUE(exists());
  EXPECT_TRUE(connect(address_).ok());
  drop(*first);
}

TEST_F(Unix, OneOfManyStartersWins) {
  leave_stale_file();
  std::vector<std::future<Result<UnixFile>>> starting;
  std::vector<Fd> sockets(16);
  for (Fd& socket : sockets) {
    socket = open_socket(AF_UNIX);
    starting.push_back(std::async(std::launch::async,
                                  [&socket, this] { return listen_unix(socket, *parse_unix(address_), 0600, 16); }));
  }
  std::vector<UnixFile> won;
  for (auto& start : starting) {
    auto file = start.get();
    if (file.ok()) won.push_back(std::move(*file));
  }
  EXPECT_EQ(won.size(), 1u);
  EXPECT_TRUE(connect(address_).ok());
}

TEST_F(Unix, NeverRemovesWhatIsNoSocket) {
  std::ofstream(file_) << "precious";
  const auto refused = listen(address_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), address_ + ": the file exists and is no socket; remove it or choose another path");
  std::string kept;
  std::ifstream(file_) >> kept;
  EXPECT_EQ(kept, "precious");
  ::unlink(file_.c_str());
  const Fd other(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));  // another program's, alive
  const auto at = parse_unix(address_);
  ASSERT_EQ(::bind(other.get(), at->get(), at->size), 0);
  EXPECT_EQ(listen(address_).error().text(), address_ + ": address already in use");
  EXPECT_TRUE(exists());
}

TEST_F(Unix, NeverRemovesItsSuccessorsFile) {
  auto old = listen(address_);
  ASSERT_TRUE(old.ok());
  ASSERT_EQ(::unlink(file_.c_str()), 0);
  auto successor = listen(address_);
  ASSERT_TRUE(successor.ok());
  drop(*old);
  EXPECT_TRUE(exists());
  EXPECT_TRUE(connect(address_).ok());
  drop(*successor);
  EXPECT_FALSE(exists());
}

TEST_F(Unix, SaysWhyItCannotListenOrConnect) {
  const std::string nowhere = "unix:" + folder_ + "/no/such/s.sock";
  EXPECT_EQ(listen(nowhere).error().text(),
            nowhere + ": no such file or directory (the socket's directory must exist)");
  EXPECT_EQ(connect(address_).error().text(),
            address_ + ": connection refused (there is no such file; is the server running?)");
  EXPECT_EQ(transport_->check("unix:a").error().code(), Errc::config);
  EXPECT_EQ(listen("unix:a").error().code(), Errc::config);
  EXPECT_EQ(connect("unix:a").error().code(), Errc::config);
  EXPECT_TRUE(transport_->check(address_).ok());
}

TEST_F(Unix, WaitsForRoomInTheQueueUntilTheDeadline) {
  TcpOptions options;
  options.backlog = 1;
  transport_ = make(options);
  auto listener = listen(address_);
  ASSERT_TRUE(listener.ok());
  std::vector<std::unique_ptr<ByteStream>> waiting;
  Result<std::unique_ptr<ByteStream>> last = Error(Errc::internal, "none yet");
  do {
    last = connect(address_, 60ms);
    if (last.ok()) waiting.push_back(std::move(*last));
  } while (last.ok() && waiting.size() < 10);
  ASSERT_FALSE(last.ok());
  EXPECT_EQ(last.error().code(), Errc::deadline_exceeded);
  EXPECT_NE(last.error().text().find("queue of connections is full"), std::string::npos) << last.error().text();
  auto connecting = std::async(std::launch::async, [&] { return connect(address_); });
  auto accepted = accept(**listener);
  EXPECT_TRUE(accepted.ok());
  auto late = connecting.get();
  EXPECT_TRUE(late.ok());
  loop_.call([&] {
    waiting.clear();
    accepted->reset();
    late->reset();
    listener->reset();
  });
}

}  // namespace
}  // namespace tenon::tcp
