// Providers that die, come back and change while they are called: when the consumer's calls, and its list, follow.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "live_fixture.hpp"

namespace tenon::test {
namespace {

/// Listens where somebody else did, and counts who comes.
class Doorbell {
 public:
  explicit Doorbell(const std::string& address) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    (void)::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0) << address;
    EXPECT_EQ(::listen(fd_, 64), 0);
    thread_ = std::thread([this] {
      for (int peer; (peer = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; ++rung_) ::close(peer);
    });
  }
  ~Doorbell() {
    (void)::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  int rung() const noexcept { return rung_; }

 private:
  const int fd_;
  std::atomic<int> rung_ = 0;
  std::thread thread_;
};

class SlowLiveProviders : public LiveAt {
 protected:
  void SetUp() override {
    server_.start();
    meet_at(server_.address());
    provide("a");
    provide("b");
    consume();
    ASSERT_TRUE(agrees(seconds(20)));
  }
  std::unique_ptr<MortalProvider> mortal(const std::string& listen = "127.0.0.1:0") {
    return std::make_unique<MortalProvider>(store_, "m", listen);
  }
  /// How many times the mortal one has answered within `time` from now.
  static int answers_within(const Load& load, Duration time) {
    const int before = load.so_far()["m"];
    std::this_thread::sleep_for(time);
    return load.so_far()["m"] - before;
  }
};
INSTANTIATE_TEST_SUITE_P(Slow, SlowLiveProviders, testing::ValuesIn(places()), place_name);

// I7. Out of rotation by its connection, out of the list by its session; nothing is sent to its place in between.
TEST_P(SlowLiveProviders, OneThatIsKilled) {
  std::this_thread::sleep_for(GetParam().settles);
  for (int round = 0; round < 3; ++round) {
    auto killed = mortal();
    ASSERT_TRUE(agrees(seconds(10), "", {killed->address()}));
    ASSERT_TRUE(answer({"a", "b", "m"}));
    Load load(consumer(), 2, milliseconds(1));
    std::this_thread::sleep_for(milliseconds(200));
    killed->signal(SIGKILL);
    const auto died = steady_clock::now();
    (void)killed->end();
    const Doorbell door(killed->address());
    const int late = answers_within(load, milliseconds(100));
    EXPECT_LE(late, 2) << "what was under way";
    EXPECT_TRUE(eventually([&] { return known() == living(); }));
    const double listed = seconds_since(died);
    std::printf("killed: %d answers after its end, %.2f s in the list, %d connections tried meanwhile\n", late, listed,
                door.rung());
    EXPECT_LE(listed, 1.5 * 2 + 0.5) << "1.5 sessions and a tick";
    EXPECT_LE(door.rung(), 20) << "no more than its reconnects";
    const int rung = door.rung();
    std::this_thread::sleep_for(seconds(1));
    EXPECT_EQ(door.rung(), rung) << "nobody connects to one that is not listed";
    EXPECT_EQ(errors_of(load.stop()), "");
  }
  EXPECT_EQ(provider("a").connections(), 1u);
}

// I7. One that sleeps for less than its session is not taken out of the list, and takes calls again.
TEST_P(SlowLiveProviders, OneThatIsOnlySlow) {
  auto slow = mortal();
  ASSERT_TRUE(agrees(seconds(10), "", {slow->address()}));
  Load load(consumer(), 2, milliseconds(1));
  for (int round = 0; round < 3; ++round) {
    slow->signal(SIGSTOP);
    const auto until = steady_clock::now() + session / 2;
    while (steady_clock::now() < until) ASSERT_EQ(known(), living({slow->address()}));
    slow->signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return answers_within(load, milliseconds(50)) > 0; }));
    std::this_thread::sleep_for(session / 2);
    ASSERT_EQ(known(), living({slow->address()}));
  }
  EXPECT_EQ(errors_of(load.stop()), "");
}

// REG-11. The same address again and again: a fresh connection each time.
TEST_P(SlowLiveProviders, OneThatRestartsAtItsPort) {
  auto restarting = mortal();
  const std::string address = restarting->address();
  Load load(consumer(), 2, milliseconds(1));
  double slowest = 0;
  for (int round = 0; round < 50; ++round) {
    restarting->signal(round % 2 ? SIGTERM : SIGKILL);
    (void)restarting->end();
    restarting = mortal(address);
    const auto listens = steady_clock::now();
    ASSERT_EQ(restarting->address(), address);
    const int before = load.so_far()["m"];
    ASSERT_TRUE(eventually([&] { return load.so_far()["m"] > before; })) << "round " << round;
    slowest = std::max(slowest, seconds_since(listens));
  }
  std::printf("the first call after a restart came after %.0f ms at most\n", slowest * 1000);
  EXPECT_LE(slowest, 0.5);
  EXPECT_TRUE(agrees(convergence, "fifty restarts at one port", {address}));
  EXPECT_EQ(errors_of(load.stop()), "");
}

// REG-12, REG-19. What an operator has written goes with the provider, whoever wrote it.
TEST_P(SlowLiveProviders, OneThatAnOperatorHasWeighed) {
  auto killed = mortal();
  ASSERT_TRUE(agrees(seconds(10), "", {killed->address()}));
  const std::string standing = server_.standing(who, killed->address());
  Load load(consumer(), 2, milliseconds(1));
  ASSERT_TRUE(eventually([&] { return answers_within(load, milliseconds(20)) > 0; }));
  std::string id;
  {
    Desk desk(store_);
    id = desk.id_of(group, killed->address());
    ASSERT_TRUE(desk.set_weight(group, id, 0));
  }  // its own session ends
  EXPECT_TRUE(eventually([&] { return answers_within(load, milliseconds(100)) == 0; }));
  EXPECT_EQ(server_.standing(who, killed->address()), standing);
  // It stays drained when the servers start anew, and have lost everything if the provider keeps what it was told.
  server_.kill();
  if (GetParam().operators_word_is_kept) server_.wipe();
  server_.start();
  EXPECT_TRUE(agrees(convergence, "", {killed->address()}));
  EXPECT_TRUE(eventually([&] { return !server_.standing(who, killed->address()).empty(); }));
  EXPECT_EQ(answers_within(load, milliseconds(500)), 0);
  std::this_thread::sleep_for(GetParam().settles);
  killed->signal(SIGKILL);
  const auto died = steady_clock::now();
  EXPECT_TRUE(eventually([&] { return known() == living(); }));
  std::printf("weighed, then killed: %.2f s in the list\n", seconds_since(died));
  EXPECT_LE(seconds_since(died), 1.5 * 2 + 0.5);
  EXPECT_EQ(errors_of(load.stop()), "");
}

// Lease::update() is felt by callers within a second.
TEST_P(SlowLiveProviders, OneThatChanges) {
  const Provider changing("m", group, store_, Provider::Announced::no);
  Desk desk(store_);
  desk.announce(group, changing.address());
  ASSERT_TRUE(answer({"a", "b", "m"}));
  Load load(consumer(), 2, milliseconds(1));
  double slowest = 0;
  const auto felt = [&](const char* what, const std::function<void(Instance&)>& change, bool answers) {
    const auto begun = steady_clock::now();
    desk.update(changing.address(), change);
    int before = load.so_far()["m"];
    auto last = begun;
    // Answers begin, or end: then none comes for a while.
    while (steady_clock::now() < begun + seconds(2)) {
      std::this_thread::sleep_for(milliseconds(5));
      const int now = load.so_far()["m"];
      if (now != before) last = steady_clock::now();
      if (answers && now != before) break;
      before = now;
    }
    const double took = std::chrono::duration<double>(last - begun).count();
    slowest = std::max(slowest, took);
    std::printf("%s: felt after %.0f ms\n", what, took * 1000);
    EXPECT_LE(took, 1.0) << what;
    EXPECT_EQ(load.so_far()["m"] > before, answers) << what;
  };
  for (int round = 0; round < 3; ++round) {
    felt(
        "weight 0", [](Instance& instance) { instance.weight = 0; }, false);
    felt(
        "weight 300", [](Instance& instance) { instance.weight = 300; }, true);
    felt(
        "offline", [](Instance& instance) { instance.serving = false; }, false);
    felt(
        "online", [](Instance& instance) { instance.metadata["zone"] = "b"; }, true);
  }
  // Shares by weight.
  desk.update(changing.address(), [](Instance& instance) { instance.weight = 200; });
  std::this_thread::sleep_for(seconds(1));
  std::map<std::string, int> got = consumer().calls(1000);
  EXPECT_NEAR(got["m"], 500, 40);
  EXPECT_EQ(errors_of(load.stop()), "");
  EXPECT_EQ(changing.connections(), 1u) << "no change needs a new connection";
}

// SHD-11, I16. Its session, its lease and its calls follow no time of day.
TEST_P(SlowLiveProviders, OneWhoseTimeOfDayJumps) {
  constexpr const char* faketime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
  if (!std::filesystem::exists(faketime)) GTEST_SKIP() << "there is no " << faketime << "; it is package libfaketime's";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TENON_UNDER_TSAN)
  GTEST_SKIP() << "a sanitizer's library must be the first one";
#endif
  const SocketFolder folder;
  const std::string offset = folder.file("offset");
  const auto jump = [&](const std::string& by) {
    std::ofstream(offset + ".new") << by << "\n";
    std::filesystem::rename(offset + ".new", offset);
  };
  jump("+0");
  MortalProvider jumping(store_, "m", "127.0.0.1:0",
                         {std::string("LD_PRELOAD=") + faketime, "FAKETIME_DONT_FAKE_MONOTONIC=1",
                          "FAKETIME_NO_CACHE=1", "FAKETIME_TIMESTAMP_FILE=" + offset});
  ASSERT_TRUE(agrees(seconds(10), "", {jumping.address()}));
  const std::string standing = server_.standing(who, jumping.address());
  Load load(consumer(), 2, milliseconds(1));
  for (const char* by : {"+1h", "-1h", "+365d", "-365d", "+0"}) {
    jump(by);
    const auto until = steady_clock::now() + session * 3 / 2;
    while (steady_clock::now() < until) {
      ASSERT_EQ(known(), living({jumping.address()})) << by;
      std::this_thread::sleep_for(milliseconds(20));
    }
    EXPECT_GT(answers_within(load, milliseconds(100)), 0) << by;
  }
  EXPECT_EQ(server_.standing(who, jumping.address()), standing) << "it has the same session all the time";
  jumping.signal(SIGTERM);
  EXPECT_EQ(jumping.end().code, 0);
  EXPECT_EQ(errors_of(load.stop()), "");
}

}  // namespace
}  // namespace tenon::test
