// A connection ends, or a byte is wrong, at byte N of a short conversation, for every N. The connections of one client
// App are tried together, each with an N of its own.

#include <algorithm>
#include <iostream>

#include "conversation.hpp"
#include "support/descriptors.hpp"
#include "support/fault_proxy.hpp"
#include "support/test_certificates.hpp"
#include "tls_options.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t at_once = 64;

struct Variant {
  std::string name;
  Tongue tongue;
  Cut cut = Cut::none;         ///< none: a byte is changed, or some are repeated
  std::size_t repeat_size = 0;
  std::uint64_t step = 1;
  bool secure = false;
};
void PrintTo(const Variant& shown, std::ostream* out) { *out << shown.name; }

class CutAtN : public testing::TestWithParam<Variant> {
 protected:
  enum class Direction { to_server, to_client };
  void SetUp() override {
    AppOptions chosen = fault_server_options(GetParam().tongue);
    if (GetParam().secure) {
      certificates = std::make_unique<TestCertificates>(testing::TempDir());
      certificates->issue("server", {"server", "DNS:localhost,IP:127.0.0.1"});
      tls::TlsOptions options;
      options.certificate = certificates->pem("server");
      options.key = certificates->key("server");
      chosen.plugins.load.push_back("transport-tls");
      chosen.server.listen[0].transport = InlineComponent(Component::of("tls", options));
    }
    server = start(std::move(chosen), {counted.service()});
    ASSERT_TRUE(server);
  }
  /// Connects with the first call, so that no heartbeat comes before: byte N is what it was.
  ReferenceOptions reference_to(const std::string& address) const {
    ReferenceOptions reference = fault_reference_options(GetParam().tongue, address);
    reference.connect = ConnectWhen::lazy;
    reference.ha = Component("failfast");
    if (GetParam().secure) {
      tls::TlsOptions options;
      options.ca = certificates->ca;
      reference.transport = Component::of("tls", options);
    }
    return reference;
  }
  AppOptions client_options() const {
    AppOptions chosen = fault_options("client");
    if (GetParam().secure) chosen.plugins.load.push_back("transport-tls");
    return chosen;
  }
  bool wrong_bytes() const { return GetParam().cut == Cut::none; }
  Faults at(std::uint64_t n) const {
    Faults faults;
    if (GetParam().repeat_size > 0) {
      faults.repeat_at = n;
      faults.repeat_size = GetParam().repeat_size;
    } else if (wrong_bytes()) {
      faults.corrupt_at = n;
      faults.corrupt_bits = static_cast<unsigned char>(1u << (n % 8));
    } else {
      faults.cut_at = n;
      faults.cut = GetParam().cut;
    }
    return faults;
  }
  /// A client whose references "0" … have a connection each, which is faulty at bytes `first`, first + step, …
  void run(FaultProxy& proxy, Direction direction, std::uint64_t first, std::uint64_t count) {
    const int accepted = proxy.accepted();
    AppOptions chosen = client_options();
    for (std::uint64_t i = 0; i < count; ++i) {
      ConnectionFaults faults;
      (direction == Direction::to_server ? faults.to_server : faults.to_client) = at(first + i * GetParam().step);
      proxy.set(accepted + static_cast<int>(i), faults);
      ReferenceOptions reference = reference_to(proxy.address());
      if (wrong_bytes()) {
        // A length that grew makes both sides wait: the deadline and the heartbeat end that.
        reference.timeout = 300ms;
        reference.heartbeat = 100ms;
        reference.heartbeat_misses = 2;
      }
      chosen.client.references[std::to_string(i)] = reference;
    }
    auto client = start(std::move(chosen));
    ASSERT_TRUE(client);
    std::vector<std::unique_ptr<Conversation>> talks;
    for (std::uint64_t i = 0; i < count; ++i)
      talks.push_back(std::make_unique<Conversation>(*client, numbers, std::to_string(i)));
    for (int round = 0; round < 3; ++round) {
      for (const auto& talk : talks) talk->begin(static_cast<std::size_t>(round));
      for (const auto& talk : talks) ASSERT_TRUE(talk->join()) << "a call does not complete";
    }
    EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*server); })) << "something is still counted";
    client.reset();
    proxy.cut(Cut::reset);
    EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 0; })) << "a connection is left";
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!wrong_bytes())
        talks[i]->expect_sound(counted);
      else if (GetParam().secure)
        talks[i]->expect_right();
      else
        talks[i]->expect_complete();  // what was asked and answered may be wrong, too
      answered += talks[i]->good();
      if (HasFailure()) FAIL() << "at byte " << first + i * GetParam().step;
    }
  }
  void run_all(Direction direction) {
    FaultProxy proxy(server->addresses()[0]);
    AppOptions chosen = client_options();
    chosen.client.references["r"] = reference_to(proxy.address());
    auto whole = start(std::move(chosen));
    ASSERT_TRUE(whole);
    Conversation talk(*whole, numbers);
    for (std::size_t round = 0; round < 3; ++round) {
      talk.begin(round);
      ASSERT_TRUE(talk.join());
    }
    ASSERT_EQ(talk.good(), 3u);
    const std::uint64_t bytes =
        direction == Direction::to_server ? proxy.to_server().bytes : proxy.to_client().bytes;
    whole.reset();
    ASSERT_TRUE(eventually([&] { return server->counts().server_connections == 0 && proxy.open() == 0; }));
    const std::size_t before = open_descriptors();
    const std::uint64_t step = GetParam().step;
    for (std::uint64_t first = 0; first < bytes && !HasFailure(); first += at_once * step)
      run(proxy, direction, first, std::min(at_once, (bytes - first + step - 1) / step));
    EXPECT_TRUE(eventually([&] { return open_descriptors() == before; }));
    std::cout << bytes << " bytes, " << (bytes + step - 1) / step << " connections, " << answered << " calls of "
              << 3 * ((bytes + step - 1) / step) << " answered\n";
    if (!wrong_bytes()) {
      EXPECT_GT(answered, 0u);
      EXPECT_LT(answered, 3 * ((bytes + step - 1) / step));
    }
  }

  std::unique_ptr<TestCertificates> certificates;
  CountedRuns counted;
  std::atomic<std::int64_t> numbers{0};
  std::size_t answered = 0;
  std::unique_ptr<App> server;
};

constexpr Tongue tenon_tongue{"tenon", "protobuf"};
constexpr Tongue motan_tongue{"motan2", "simple"};
std::string name_of(const testing::TestParamInfo<Variant>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Fast, CutAtN,
                         testing::Values(Variant{"tenon_reset", tenon_tongue, Cut::reset},
                                         Variant{"tenon_close", tenon_tongue, Cut::close},
                                         Variant{"tenon_half", tenon_tongue, Cut::half},
                                         Variant{"motan2_reset", motan_tongue, Cut::reset},
                                         Variant{"motan2_close", motan_tongue, Cut::close},
                                         Variant{"motan2_half", motan_tongue, Cut::half},
                                         Variant{"tls_reset", tenon_tongue, Cut::reset, 0, 23, true},
                                         Variant{"tls_close", tenon_tongue, Cut::close, 0, 23, true}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Slow, CutAtN,
                         testing::Values(Variant{"tls_reset_everywhere", tenon_tongue, Cut::reset, 0, 1, true},
                                         Variant{"tls_corrupt", tenon_tongue, Cut::none, 0, 1, true},
                                         Variant{"tenon_corrupt", tenon_tongue},
                                         Variant{"motan2_corrupt", motan_tongue},
                                         Variant{"tenon_repeat", tenon_tongue, Cut::none, 5},
                                         Variant{"motan2_repeat", motan_tongue, Cut::none, 5}),
                         name_of);

TEST_P(CutAtN, OnTheWayToTheServer) { run_all(Direction::to_server); }

TEST_P(CutAtN, OnTheWayToTheClient) { run_all(Direction::to_client); }

}  // namespace
}  // namespace tenon::test
