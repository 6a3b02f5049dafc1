#include "support/place.hpp"

#include <atomic>

namespace tenon::test {

namespace {

// Its store ends with this process, so there is nothing to start or to kill.
class MemoryPlace final : public Place {
 public:
  MemoryPlace() {
    static std::atomic<int> made = 0;
    name_ = "place-" + std::to_string(++made);
  }
  void start() override {}
  void kill() override { refuse(); }
  void wipe() override { refuse(); }
  void pause() override { refuse(); }
  void resume() override { refuse(); }
  std::string address() const override { return name_; }
  Store store(const std::string& address, std::chrono::milliseconds) const override { return memory(address); }
  std::string standing(const ServiceName&, const std::string&) override { return refuse(), ""; }
  std::string changes(const ServiceName&) override { return refuse(), ""; }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("the memory registry has no server"); }
  std::string name_;
};

}  // namespace

PlaceKind memory_place() {
  return {"memory", [](std::chrono::milliseconds) { return std::make_unique<MemoryPlace>(); }, false, false};
}

std::vector<PlaceKind> places() {
  return {
      center_place(),
#ifdef TENON_TEST_HAS_ZOOKEEPER
      zookeeper_place(),
#endif
#ifdef TENON_TEST_HAS_CONSUL
      consul_place(),
#endif
  };
}

std::vector<PlaceKind> ready_places() {
  std::vector<PlaceKind> ready = places();
  std::erase_if(ready, [](const PlaceKind& kind) { return kind.fetched; });
  return ready;
}

std::vector<PlaceKind> fetched_places() {
  std::vector<PlaceKind> fetched = places();
  std::erase_if(fetched, [](const PlaceKind& kind) { return !kind.fetched; });
  return fetched;
}

}  // namespace tenon::test
