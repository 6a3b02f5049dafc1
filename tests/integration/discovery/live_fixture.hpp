#pragma once
// Real Apps that meet at a real registry: providers of one group, a consumer under steady load that carries out traffic
// commands, and what it knows of them as its admin service tells.

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "../admin/asking.hpp"
#include "../traffic/fixture.hpp"
#include "support/child_process.hpp"
#include "support/place.hpp"

namespace tenon::test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

inline double seconds_since(steady_clock::time_point begun) {
  return std::chrono::duration<double>(steady_clock::now() - begun).count();
}

/// A provider in a process of its own, to be killed: mortal_app.cpp.
class MortalProvider {
 public:
  /// `environment`: "NAME=VALUE" each.
  MortalProvider(const Store& store, const std::string& name, const std::string& listen = "127.0.0.1:0",
                 std::vector<std::string> environment = {})
      : process_("/usr/bin/env", words(std::move(environment), {TENON_TEST_MORTAL_APP, store.plugin, store.registry,
                                                                name, listen})) {
    const std::string line = process_.line();
    EXPECT_TRUE(line.starts_with("serving ")) << line << process_.end(milliseconds(0)).err;
    address_ = line.substr(std::min(line.size(), std::string("serving ").size()));
  }
  const std::string& address() const noexcept { return address_; }
  void signal(int number) const { process_.signal(number); }
  ChildProcess::End end() { return process_.end(seconds(10)); }

 private:
  static std::vector<std::string> words(std::vector<std::string> first, const std::vector<std::string>& then) {
    first.insert(first.end(), then.begin(), then.end());
    return first;
  }
  ChildProcess process_;
  std::string address_;
};

/// The providers "a", "b", … and their consumer. Sessions last two seconds.
class Live : public testing::Test {
 protected:
  static constexpr milliseconds session = seconds(2);
  static constexpr Duration convergence = session + seconds(5);  ///< the promise
  static constexpr const char* group = "blue";
  static inline const ServiceName who{traffic_service, group, ""};

  Provider& provide(const std::string& name, const std::string& listen = "127.0.0.1:0") {
    auto& slot = providers_[name];
    slot = std::make_unique<Provider>(name, group, store_, Provider::Announced::yes, listen);
    return *slot;
  }
  void stop(const std::string& name) {
    EXPECT_TRUE(providers_.at(name)->app->stop(seconds(5)));
    providers_.erase(name);
  }
  Provider& provider(const std::string& name) { return *providers_.at(name); }
  /// Starts the consumer. Its log is kept.
  void consume() {
    consumer_ = std::make_unique<Consumer>(group, store_, "consumer", [this](AppOptions& options) {
      options.admin = AdminOptions();
      options.admin->listen = folder_.address("admin");
      options.log.level = LogLevel::warn;
      options.log.file = folder_.file("log");
    });
    asking_ = std::make_unique<Asking>(folder_.address("admin"));
  }
  const Consumer& consumer() const { return *consumer_; }

  /// Addresses that the consumer has for its own group and those that commands name.
  std::set<std::string> known() const {
    std::set<std::string> addresses;
    for (const admin::ReferenceState& reference : asking_->stats().references)
      for (const admin::EndpointState& endpoint : reference.endpoints)
        if (!reference.registry.empty() && endpoint.health != admin::EndpointHealth::leaving)
          addresses.insert(endpoint.address);
    return addresses;
  }
  /// Those of the providers that live in this process, and `others`.
  std::set<std::string> living(std::set<std::string> others = {}) const {
    for (const auto& [name, provider] : providers_) others.insert(provider->address());
    return others;
  }
  /// Waits until the consumer's set is the live set; says how long that took.
  bool agrees(Duration limit, const std::string& after = {}, const std::set<std::string>& others = {}) const {
    const auto begun = steady_clock::now();
    const std::set<std::string> wanted = living(others);
    const bool good = eventually([&] { return known() == wanted; }, limit);
    if (!after.empty())
      std::printf("after %s: %s in %.2f s\n", after.c_str(), good ? "agreed" : "NOT agreed", seconds_since(begun));
    if (!good) ADD_FAILURE() << "known: " << text(known()) << "; living: " << text(wanted);
    return good;
  }
  /// Those who answer now are exactly these.
  bool answer(const std::set<std::string>& names, Duration limit = seconds(10)) const {
    return eventually(
        [&] {
          std::set<std::string> heard;
          for (int i = 0; i < 30; ++i) heard.insert(consumer_->call());
          return heard == names;
        },
        limit);
  }
  /// Lines of a log by cause.
  static std::map<std::string, int> by_cause(std::istream& log) {
    std::map<std::string, int> lines;
    for (std::string line; std::getline(log, line);) {
      const std::size_t begin = line.find('[');
      const std::size_t end = line.find(']', begin);
      ++lines[begin == line.npos || end == line.npos ? line : line.substr(begin + 1, end - begin - 1)];
    }
    return lines;
  }
  /// Of the consumer's.
  std::map<std::string, int> logged() const {
    std::ifstream file(folder_.file("log"));
    return by_cause(file);
  }
  std::string log_text() const {
    std::ifstream file(folder_.file("log"));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string text(const std::set<std::string>& all) {
    std::string joined;
    for (const std::string& one : all) joined += one + " ";
    return joined;
  }
  /// Nobody who stayed was connected to twice, and no call failed.
  void expect_undisturbed(Load& load, const std::set<std::string>& stayed) {
    const std::map<std::string, int> answers = load.stop();
    int calls = 0;
    for (const auto& [who, count] : answers) calls += count;
    std::printf("%d calls, failed: %s\n", calls, errors_of(answers).empty() ? "0" : errors_of(answers).c_str());
    EXPECT_EQ(errors_of(answers), "");
    for (const std::string& name : stayed) {
      EXPECT_EQ(provider(name).connections(), 1u) << name;
      EXPECT_GT(answers.count(name), 0u) << name;
    }
  }

  Store store_;  ///< how every App here reaches the registry

 private:
  const SocketFolder folder_;
  std::map<std::string, std::unique_ptr<Provider>> providers_;
  std::unique_ptr<Consumer> consumer_;
  std::unique_ptr<Asking> asking_;
};

/// The same at one place of several.
class LiveAt : public Live, public testing::WithParamInterface<PlaceKind> {
 protected:
  explicit LiveAt(milliseconds lease = session) : place_(GetParam().make(lease)) {}
  void meet_at(const std::string& address, milliseconds connect_timeout = seconds(1)) {
    store_ = server_.store(address, connect_timeout);
  }

 private:
  const std::unique_ptr<Place> place_;

 protected:
  Place& server_ = *place_;
};

}  // namespace tenon::test
