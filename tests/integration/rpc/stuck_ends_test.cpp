// I15: a process that is told to stop is gone a second after its grace, whatever else is broken.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "support/child_process.hpp"
#include "support/free_port.hpp"
#include "support/raw_socket.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_apps.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ChildProcess;

constexpr milliseconds grace(400);

/// A port of this machine.
class Port {
 public:
  /// What becomes of those who connect.
  enum class Behaviour {
    mute,        ///< they are connected, and never hear a word
    black_hole,  ///< they are never connected
  };
  explicit Port(Behaviour behaviour) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(fd_, behaviour == Behaviour::mute ? 64 : 0), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    // Nobody accepts: beyond the first one the kernel answers no SYN.
    if (behaviour == Behaviour::black_hole) filler_ = std::make_unique<test::RawSocket>(address_);
  }
  ~Port() { ::close(fd_); }
  const std::string& address() const noexcept { return address_; }

 private:
  const int fd_;
  std::string address_;
  std::unique_ptr<test::RawSocket> filler_;
};

class StuckEnds : public testing::Test {
 protected:
  // What never ends is left behind on purpose: not for the leak checker of a sanitized process.
  void SetUp() override { ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1); }
  void TearDown() override { ::unsetenv("ASAN_OPTIONS"); }

  /// An application with a stubborn part; `more` is the rest of its manifest.
  void launch(const std::string& part, const std::string& registry = "{ use: memory }", const std::string& more = "") {
    const std::string manifest = folder_.path() + "/m.yaml";
    std::ofstream file(manifest);
    file << "application: stubborn\nplugins:\n  search: [\"" << TENON_TEST_PLUGIN_DIR << "\"]\n  probe: false\n"
         << "  load: [transport-tcp, protocol-tenon, protocol-http, serialize-pb, serialize-json, cluster,\n"
         << "         registry-memory, registry-center]\n"
         << "registries: { main: " << registry << " }\n"
         << "server:\n  grace: " << grace.count() << "ms\n"
         << "  listen: [ { use: tcp, address: \"127.0.0.1:0\", protocols: [tenon, http] } ]\n"
         << "  services: [ { name: test.Stubborn, registry: main } ]\n"
         << more;
    file.close();
    app_ = std::make_unique<ChildProcess>(STUBBORN_APP, std::vector<std::string>{part, "--manifest", manifest});
    ASSERT_EQ(app_->line(), "made") << app_->end(milliseconds(0)).err;
  }
  /// Waits until it has started; its address.
  std::string started() {
    std::string address;
    for (std::string line = app_->line(); line != "started"; line = app_->line()) {
      if (line.empty()) {
        ADD_FAILURE() << app_->end(milliseconds(0)).err;
        break;
      }
      address = line.substr(line.rfind(' ') + 1);
    }
    return address;
  }
  /// It has not started within a while.
  void expect_starting() { ASSERT_EQ(app_->line(milliseconds(300)), "") << "it has started"; }
  ChildProcess::End expect_end(int code, int signal = SIGTERM) {
    app_->signal(signal);
    ChildProcess::End end = app_->end(seconds(10));
    EXPECT_EQ(end.code, code) << end.err;
    const auto took = std::chrono::duration_cast<milliseconds>(end.took);
    EXPECT_LE(took, grace + seconds(1)) << end.err;
    std::cout << "ended after " << took.count() << " ms with " << grace.count() << " ms of grace\n";
    return end;
  }

  const test::TemporaryFolder folder_;
  std::unique_ptr<ChildProcess> app_;
};

TEST_F(StuckEnds, NothingIs) {
  ASSERT_NO_FATAL_FAILURE(launch("none"));
  (void)started();
  expect_end(0);
}

TEST_F(StuckEnds, AWarmUpThatNeverEnds) {
  ASSERT_NO_FATAL_FAILURE(launch("warm_up"));
  ASSERT_NO_FATAL_FAILURE(expect_starting());
  expect_end(0);
}

TEST_F(StuckEnds, AWarmUpThatBlocksItsThread) {
  ASSERT_NO_FATAL_FAILURE(launch("blocked_warm_up"));
  ASSERT_NO_FATAL_FAILURE(expect_starting());
  EXPECT_NE(expect_end(1).err.find("has not ended in time"), std::string::npos);
}

TEST_F(StuckEnds, AServiceThatDoesNotReturnFromDraining) {
  ASSERT_NO_FATAL_FAILURE(launch("draining"));
  (void)started();
  EXPECT_NE(expect_end(1).err.find("has not ended in time"), std::string::npos);
}

TEST_F(StuckEnds, ARegistryThatNeverEndsTheWithdrawal) {
  ASSERT_NO_FATAL_FAILURE(launch("none", "{ use: stubborn }"));
  (void)started();
  EXPECT_NE(expect_end(0).err.find("it is not waited for"), std::string::npos);
}

TEST_F(StuckEnds, ARegistryThatIsDeadAtTheStart) {
  const std::string nobody = "127.0.0.1:" + std::to_string(test::free_port());
  ASSERT_NO_FATAL_FAILURE(launch("none", "{ use: center, server: \"" + nobody + "\", connect_timeout: 60s }"));
  ASSERT_NO_FATAL_FAILURE(expect_starting());
  expect_end(0);
}

TEST_F(StuckEnds, ARegistryThatIsABlackHoleAtTheStart) {
  for (const auto behaviour : {Port::Behaviour::mute, Port::Behaviour::black_hole}) {
    const Port hole(behaviour);
    ASSERT_NO_FATAL_FAILURE(
        launch("none", "{ use: center, server: \"" + hole.address() + "\", connect_timeout: 60s }"));
    ASSERT_NO_FATAL_FAILURE(expect_starting());
    expect_end(0);
  }
}

TEST_F(StuckEnds, ARegistryThatIsABlackHoleAtTheEnd) {
  const Port hole(Port::Behaviour::mute);
  ASSERT_NO_FATAL_FAILURE(
      launch("none", "{ use: center, server: \"" + hole.address() + "\", connect_timeout: 100ms }"));
  (void)started();
  expect_end(0);
}

TEST_F(StuckEnds, AReferenceThatIsStillConnecting) {
  const Port hole(Port::Behaviour::black_hole);
  for (const char* check : {"false", "true"}) {
    ASSERT_NO_FATAL_FAILURE(launch("none", "{ use: memory }",
                                   "client: { references: { r: { service: test.Nobody, address: \"" + hole.address() +
                                       "\", connect_timeout: 60s, check: " + check + " } } }\n"));
    ASSERT_NO_FATAL_FAILURE(expect_starting());
    expect_end(0);
  }
}

TEST_F(StuckEnds, APeerThatDoesNotRead) {
  ASSERT_NO_FATAL_FAILURE(launch("none"));
  const std::string address = started();
  test::RawSocket peer(address);
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE(peer.send("POST /test.Stubborn/large HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
  std::string head;
  ASSERT_TRUE(peer.receive(head, 1000, 10000)) << "it is being answered";
  expect_end(0);
}

TEST_F(StuckEnds, APeerThatDoesNotSayWhatItSpeaks) {
  ASSERT_NO_FATAL_FAILURE(launch("none"));
  test::RawSocket peer(started());
  ASSERT_TRUE(peer.send("P"));
  expect_end(0);
}

TEST_F(StuckEnds, ALogThatTakesNothing) {
  const std::string log = folder_.path() + "/log";
  ASSERT_EQ(::mkfifo(log.c_str(), 0600), 0);
  const int reader = ::open(log.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  ASSERT_NO_FATAL_FAILURE(launch("none", "{ use: memory }", "log: { file: \"" + log + "\" }\n"));
  (void)started();
  const std::string page(4096, ' ');
  while (::write(reader, page.data(), page.size()) > 0) continue;
  expect_end(1);
  ::close(reader);
}

// The signal may come at any moment of the start.
TEST_F(StuckEnds, TheSignalComesWhileItStarts) {
  for (int i = 0; i < 12; ++i) {
    ASSERT_NO_FATAL_FAILURE(launch("none"));
    std::this_thread::sleep_for(milliseconds(i));
    expect_end(0, i % 2 ? SIGTERM : SIGINT);
  }
}

// A terminal that goes away: once is as good as twice.
TEST_F(StuckEnds, SighupDrainsAndForcesNothing) {
  ASSERT_NO_FATAL_FAILURE(launch("none"));
  (void)started();
  app_->signal(SIGHUP);
  const ChildProcess::End end = expect_end(0, SIGHUP);
  EXPECT_NE(end.err.find("received SIGHUP"), std::string::npos) << end.err;
}

}  // namespace
}  // namespace tenon
