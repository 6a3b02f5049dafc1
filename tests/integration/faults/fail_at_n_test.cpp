// The n-th I/O fails, n = 0, 1, 2, … until a run passes without: on the client's side, then on the server's.

#include <unistd.h>

#include <iostream>

#include "conversation.hpp"
#include "failing_transport.hpp"
#include "support/descriptors.hpp"

namespace tenon::test {
namespace {

using How = IoPlan::How;
using namespace std::chrono_literals;

struct Variant {
  std::string name;
  Tongue tongue;
  How how = How::fail;
  std::string ha = "failfast";
  bool unix_socket = false;
};
void PrintTo(const Variant& shown, std::ostream* out) { *out << shown.name; }

class FailAtN : public testing::TestWithParam<Variant> {
 protected:
  /// Small ones, and two whose bodies are read and written in place.
  static inline const std::vector<std::size_t> sizes = {0, 100, 40'000, 5, 70'000};

  AppOptions failing(AppOptions chosen) const {
    built_in.join(chosen);
    return chosen;
  }
  Component transport() const { return Component::of("failing", FailingOptions{plan}); }
  void serve(bool fails) {
    const std::string address = GetParam().unix_socket ? "unix:@tenon-fail-at-n-" + std::to_string(::getpid())
                                                       : "127.0.0.1:0";
    AppOptions chosen = fault_server_options(GetParam().tongue, address);
    if (fails) {
      chosen = failing(std::move(chosen));
      chosen.server.listen[0].transport = InlineComponent(transport());
    }
    server = start(std::move(chosen), {counted.service()});
    ASSERT_TRUE(server);
  }
  std::unique_ptr<App> client(bool fails) {
    AppOptions chosen = fault_client_options(GetParam().tongue, server->addresses()[0]);
    ReferenceOptions& reference = chosen.client.references["r"];
    reference.ha = Component(GetParam().ha);
    if (fails) {
      chosen = failing(std::move(chosen));
      chosen.client.references["r"].transport = transport();
    }
    return start(std::move(chosen));
  }
  /// One run; returns whether the plan's I/O happened.
  bool run(std::uint64_t nth, bool client_fails) {
    plan->arm(GetParam().how, nth);
    auto app = client(client_fails);
    if (!app) return false;
    Conversation talk(*app, numbers);
    EXPECT_TRUE(talk.talk(sizes)) << "a call does not complete";
    EXPECT_TRUE(eventually([&] { return idle(*app) && idle(*server); })) << "something is still counted";
    app.reset();
    EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 0; })) << "a connection is left";
    talk.expect_sound(counted);
    if (GetParam().how == How::brief) {
      EXPECT_EQ(talk.good(), talk.calls().size());
    }
    good += talk.good();
    bad += talk.calls().size() - talk.good();
    return plan->happened();
  }
  void run_all(bool client_fails) {
    serve(!client_fails);
    ASSERT_FALSE(run(~std::uint64_t{0}, client_fails));
    EXPECT_EQ(bad, 0u);
    const std::size_t before = open_descriptors();
    // How many I/Os a run takes varies with how they meet, so one that passes without proves little.
    std::uint64_t nth = 0;
    for (int passed = 0; passed < 3 && nth < 2000; ++nth) {
      passed = run(nth, client_fails) ? 0 : passed + 1;
      if (HasFailure()) FAIL() << "when I/O number " << nth << " failed";
      EXPECT_TRUE(eventually([&] { return open_descriptors() == before; })) << "after I/O number " << nth;
    }
    EXPECT_GT(nth, 15u);
    EXPECT_LT(nth, 2000u);
    if (GetParam().how != How::brief) {
      EXPECT_GT(bad, 5u);
    }
    std::cout << nth << " I/Os failed, one in each run; " << good << " calls were answered, " << bad << " failed\n";
  }

  const BuiltIn built_in{failing_plugin};
  std::shared_ptr<IoPlan> plan = std::make_shared<IoPlan>();
  std::atomic<std::int64_t> numbers{0};
  CountedRuns counted;
  std::unique_ptr<App> server;
  std::size_t good = 0;
  std::size_t bad = 0;
};

constexpr Tongue tenon_tongue{"tenon", "protobuf"};
constexpr Tongue motan_tongue{"motan2", "simple"};

std::string name_of(const testing::TestParamInfo<Variant>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Fast, FailAtN,
                         testing::Values(Variant{"tenon_fail", tenon_tongue}, Variant{"motan2_fail", motan_tongue}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Slow, FailAtN,
                         testing::Values(Variant{"tenon_end", tenon_tongue, How::end},
                                         Variant{"motan2_end", motan_tongue, How::end},
                                         Variant{"tenon_brief", tenon_tongue, How::brief},
                                         Variant{"motan2_brief", motan_tongue, How::brief},
                                         Variant{"tenon_failover", tenon_tongue, How::fail, "failover"},
                                         Variant{"tenon_unix", tenon_tongue, How::fail, "failfast", true}),
                         name_of);

TEST_P(FailAtN, OnTheClientsSide) { run_all(true); }

TEST_P(FailAtN, OnTheServersSide) { run_all(false); }

}  // namespace
}  // namespace tenon::test
