// Every balancer, called from eight threads on eight io threads, while its members change every millisecond.
#include <chrono>
#include <random>

#include "../traffic/fixture.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::size_t server_count = 5;

/// Announces servers at one registry, and changes what it has said.
class Announcer {
 public:
  explicit Announcer(const Store& store) : hand_(store, "announcer") {}
  ~Announcer() {
    hand_.on([this] { leases_.clear(); });
  }
  void announce(std::size_t i, const std::string& address, std::uint32_t weight) {
    Instance instance;
    instance.id = address;
    instance.address = address;
    instance.transport = "tcp";
    instance.weight = weight;
    auto lease = hand_.run([&] { return hand_.registry().announce({traffic_service, "", ""}, instance); });
    ASSERT_TRUE(lease.ok()) << lease.error().text();
    leases_[i] = {std::move(*lease), instance};
  }
  bool announced(std::size_t i) const { return leases_.contains(i); }
  void withdraw(std::size_t i) {
    const TimePoint deadline = steady_clock::now() + 5s;
    const auto gone = hand_.run([&] { return leases_.at(i).lease->withdraw(deadline); });
    EXPECT_TRUE(gone.ok()) << gone.error().text();
    hand_.on([&] { leases_.erase(i); });
  }
  void update(std::size_t i, std::uint32_t weight, bool serving) {
    Announced& announced = leases_.at(i);
    announced.instance.weight = weight;
    announced.instance.serving = serving;
    hand_.on([&] { announced.lease->update(announced.instance); });
  }

 private:
  struct Announced {
    std::unique_ptr<Lease> lease;
    Instance instance;
  };
  RegistryHand hand_;
  std::map<std::size_t, Announced> leases_;
};

std::map<std::string, std::string> balancers() {
  return {{"r0", "round-robin"},
          {"r1", "weighted-round-robin"},
          {"r2", "random"},
          {"r3", "weighted-random"},
          {"r4", "active-weight"},
          {"r5", "p2c"},
          {"r6", "{ use: consistent-hash, header: x-key }"},
          {"r7", "{ use: modulo, field: arg1 }"},
          {"r8", "{ use: local-first, addresses: [10.9.9.9], among: { use: consistent-hash } }"}};
}

class BalancersUnderChurn : public testing::Test {
 protected:
  const Store store = memory("balancers-under-churn");
  std::vector<std::unique_ptr<Provider>> servers;

  std::unique_ptr<App> consumer() {
    AppOptions options = with_store(test::options("consumer"), store);
    options.runtime.io_threads = 8;
    for (const auto& [name, balancer] : balancers()) {
      auto read = parse_manifest("test", "registries: { here: " + store.registry + " }\nclient: { references: { " +
                                             name + ": { service: " + traffic_service +
                                             ", registry: here, connect: lazy, timeout: 20s, " +
                                             "balancer: " + balancer + " } } }");
      if (!read.ok()) throw std::runtime_error(read.error().text());
      options.client.references[name] = read->client.references.at(name);
    }
    return start(std::move(options));
  }
};

TEST_F(BalancersUnderChurn, NoCallFails) {
  for (std::size_t i = 0; i < server_count; ++i)
    servers.push_back(
        std::make_unique<Provider>(std::string(1, static_cast<char>('a' + i)), "", store, Provider::Announced::no));
  Announcer announcer(store);
  for (std::size_t i = 0; i < server_count; ++i) announcer.announce(i, servers[i]->address(), 100);
  const auto app = consumer();
  ASSERT_TRUE(app);

  std::atomic<bool> stop = false;
  std::atomic<std::size_t> calls = 0;
  std::mutex mutex;
  std::map<std::string, int> errors;
  std::map<std::string, std::map<std::string, int>> answers;  // by balancer
  std::vector<std::thread> callers;
  for (int thread = 0; thread < 8; ++thread)
    callers.emplace_back([&, thread] {
      std::vector<std::pair<std::string, ClientFunction<std::string(std::string)>>> functions;
      for (const auto& [name, balancer] : balancers())
        functions.emplace_back(name, ClientFunction<std::string(std::string)>(app->reference(name), "name"));
      std::map<std::string, std::map<std::string, int>> got;
      std::map<std::string, int> failed;
      for (std::uint64_t i = 0; !stop; ++i) {
        const auto& [name, function] = functions[i % functions.size()];
        CallOptions options;
        options.hash_key = i;
        options.headers.set("x-key", std::to_string(i * 8 + static_cast<std::uint64_t>(thread)));
        const Result<std::string> answer = function.call(options, "call " + std::to_string(i));
        ++calls;
        if (answer.ok())
          ++got[name][*answer];
        else
          ++failed[balancers().at(name) + ": " + answer.error().text()];
      }
      const std::lock_guard lock(mutex);
      for (const auto& [text, count] : failed) errors[text] += count;
      for (const auto& [name, each] : got)
        for (const auto& [who, count] : each) answers[name][who] += count;
    });

  // The first one always takes calls; of the others some do. A machine that is too slow for so many changes (each makes
  // 72 sets of members anew) gets fewer, or the calls would have no time.
  std::mt19937 random(1);
  int changes = 0;
  const auto began = steady_clock::now();
  const auto enough = [&] { return steady_clock::now() > began + 3s && calls > 1000; };
  for (; !enough() && steady_clock::now() < began + 25s; ++changes) {
    const std::size_t i = random() % server_count;
    const auto weight = static_cast<std::uint32_t>(random() % 101);
    if (i == 0)
      announcer.update(0, std::max(weight, 1u), true);
    else if (!announcer.announced(i))
      announcer.announce(i, servers[i]->address(), weight);
    else if (changes % 20 == 0)
      announcer.withdraw(i);
    else
      announcer.update(i, weight, random() % 4 != 0);
    std::this_thread::sleep_for(calls * 2 >= static_cast<std::size_t>(changes) ? 1ms : 10ms);
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  std::string failures;
  for (const auto& [text, count] : errors) failures += std::to_string(count) + " x " + text + "\n";
  EXPECT_EQ(failures, "");
  EXPECT_GT(calls, 1000u);
  EXPECT_GT(changes, 100);
  std::set<std::string> heard;
  for (const auto& [name, balancer] : balancers()) {
    EXPECT_FALSE(answers[name].empty()) << balancer;
    for (const auto& [who, count] : answers[name]) heard.insert(who);
  }
  EXPECT_EQ(heard.size(), server_count);
  std::printf("%d changes, %zu calls\n", changes, calls.load());
}

}  // namespace
}  // namespace tenon::test
