#include "churn.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "caller.hpp"
#include "figures.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

double since(std::uint64_t begun) { return static_cast<double>(now() - begun) / 1e9; }

bool becomes_empty(const Caller& caller) {
  for (const std::uint64_t begun = now(); since(begun) < 20; std::this_thread::sleep_for(50ms)) {
    const auto state = caller.state();
    if (state.ok() && state->clients == 0 && state->instances == 0 && state->subscriptions == 0 && state->services == 0)
      return true;
  }
  return false;
}

// A few share their services, the others have one each.
tenon::ServiceName service_of(unsigned number) {
  return {"bench.Churn" + std::to_string(number % 3 == 0 ? number : 0), "bench", ""};
}

bool live_once(const std::string& plugins, const std::string& center, unsigned number) {
  const Caller caller(plugins, center);
  if (!caller.good()) return false;
  const tenon::center::ClientKey key = new_key();
  if (!caller.calls().open({key, "churn/" + std::to_string(number), ""}).ok()) return false;
  tenon::Instance instance;
  instance.id = instance.address = "10.1.2.3:" + std::to_string(number);
  instance.transport = "tcp";
  instance.protocols = {"tenon"};
  if (!caller.calls().announce(key, service_of(number), instance).ok()) return false;
  tenon::center::List list;
  auto lists = caller.calls().watch.call(long_lasting(), key, service_of(number), "churn");
  const auto more = lists.next(list);
  if (!more.ok() || !*more) return false;
  return number % 2 != 0 || caller.calls().close(key).ok();
}

}  // namespace

Churn subscribe_again(const CenterProcess& center, const std::string& plugins, unsigned cycles) {
  Churn churn;
  const Caller caller(plugins, center.address());
  if (!caller.good()) return churn;
  const tenon::center::ClientKey key = new_key();
  const std::uint64_t begun = now();
  for (; churn.done < cycles && since(begun) < 60; ++churn.done) {
    if (churn.done % 500 == 0 && !caller.calls().open({key, "churn/1", ""}).ok()) break;  // it is not silent
    if (churn.done == cycles / 10) churn.before_kib = center.resident_kib();
    if (churn.done == cycles / 2) churn.middle_kib = center.resident_kib();
    tenon::center::List list;
    auto lists = caller.calls().watch.call(long_lasting(), key, service_of(churn.done), "churn");
    const auto more = lists.next(list);
    if (!more.ok() || !*more) break;
  }
  churn.seconds = since(begun);
  (void)caller.calls().close(key);
  churn.empty = becomes_empty(caller);
  churn.after_kib = center.resident_kib();
  return churn;
}

Churn come_and_go(const CenterProcess& center, const std::string& plugins, unsigned clients) {
  Churn churn;
  const Caller caller(plugins, center.address());
  if (!caller.good()) return churn;
  std::atomic<unsigned> next{0};
  std::atomic<unsigned> done{0};
  const std::uint64_t begun = now();
  const auto live = [&] {
    for (unsigned number = next++; number < clients && since(begun) < 90; number = next++)
      if (live_once(plugins, center.address(), number)) ++done;
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(live);
  const auto at = [&](unsigned number) {
    while (next < number && since(begun) < 90) std::this_thread::sleep_for(5ms);
    return center.resident_kib();
  };
  churn.before_kib = at(clients / 10);
  churn.middle_kib = at(clients / 2);
  threads.clear();
  churn.seconds = since(begun);
  churn.done = done;
  churn.empty = becomes_empty(caller);
  churn.after_kib = center.resident_kib();
  return churn;
}

}  // namespace bench
