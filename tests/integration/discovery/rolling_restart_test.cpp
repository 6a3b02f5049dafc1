// I14: each of three providers is stopped and started anew in turn, under two thousand calls a second of a client that
// never sends a call twice. No call fails.
#include <iostream>

#include "fixture.hpp"

namespace tenon::test {
namespace {

constexpr int callers = 4;
constexpr auto pause_of_a_caller = 2ms;  // 2000 calls a second in all

struct Speech {
  std::string protocol;
  std::string serializer;
};

void speak(AppOptions& options, const Speech& speech) {
  options.plugins.load.insert(options.plugins.load.end(), {"protocol-motan2", "serialize-simple"});
  for (ListenOptions& listen : options.server.listen) listen.protocols = {Component(speech.protocol)};
  for (auto& [name, reference] : options.client.references) {
    reference.protocol = Component(speech.protocol);
    reference.serializer = Component(speech.serializer);
    reference.ha = Component("failfast");
    reference.methods.clear();
  }
}

/// Calls at a steady pace; a call that is late is made up for.
class PacedLoad {
 public:
  explicit PacedLoad(const Consumer& consumer) {
    for (int i = 0; i < callers; ++i) threads_.emplace_back([this, &consumer] { run(consumer); });
  }
  ~PacedLoad() { stop(); }
  void stop() {
    stop_ = true;
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }
  int calls() const noexcept { return calls_; }
  std::string failures() {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

 private:
  void run(const Consumer& consumer) {
    for (auto due = std::chrono::steady_clock::now(); !stop_; due += pause_of_a_caller) {
      std::this_thread::sleep_until(due);
      const std::string answer = consumer.call();
      ++calls_;
      if (!answer.starts_with("error")) continue;
      const std::lock_guard lock(mutex_);
      failures_ += answer + "\n";
    }
  }
  std::atomic<bool> stop_ = false;
  std::atomic<int> calls_ = 0;
  std::mutex mutex_;
  std::string failures_;
  std::vector<std::thread> threads_;
};

class SlowRollingRestart : public Discovery {
 protected:
  void fails_no_call(const Speech& speech) {
    const Registries registries{{"here", registry("rolling")}};
    const auto adjust = [&](AppOptions& options) { speak(options, speech); };
    std::map<std::string, std::unique_ptr<Provider>> providers;
    for (const char* name : {"a", "b", "c"}) {
      providers[name] = std::make_unique<Provider>(name, registries, adjust);
      ASSERT_TRUE(providers[name]->started());
    }
    const Consumer consumer(registries, adjust);
    ASSERT_TRUE(consumer.hears({"a", "b", "c"}));
    const auto begun = std::chrono::steady_clock::now();
    PacedLoad load(consumer);
    for (int round = 0; round < 2; ++round)
      for (auto& [name, provider] : providers) {
        std::this_thread::sleep_for(300ms);
        provider->stop();
        provider.reset();
        provider = std::make_unique<Provider>(name, registries, adjust);
        ASSERT_TRUE(provider->started());
        ASSERT_TRUE(eventually([&, service = &provider->service()] { return service->calls > 50; }, 20s)) << name;
      }
    load.stop();
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    std::cout << speech.protocol << ": 6 restarts, " << load.calls() << " calls in " << took << " s ("
              << static_cast<int>(load.calls() / took) << " a second)\n";
    EXPECT_EQ(load.failures(), "");
  }
};
INSTANTIATE_TEST_SUITE_P(, SlowRollingRestart, testing::ValuesIn(quick_places()), place_name);
INSTANTIATE_TEST_SUITE_P(SlowPlaces, SlowRollingRestart, testing::ValuesIn(slow_places()), place_name);

TEST_P(SlowRollingRestart, OverTenon) { fails_no_call({"tenon", "protobuf"}); }
TEST_P(SlowRollingRestart, OverAProtocolWithoutAGoodbye) { fails_no_call({"motan2", "simple"}); }

}  // namespace
}  // namespace tenon::test
