#include "../integration/zookeeper/hand.hpp"
#include "support/place.hpp"
#include "support/zookeeper_server.hpp"

namespace tenon::test {

namespace {

class ZookeeperPlace final : public Place {
 public:
  explicit ZookeeperPlace(std::chrono::milliseconds lease) : lease_(lease) {}
  void start() override { server_.start(); }
  void kill() override { server_.kill(); }
  void wipe() override { server_.wipe(); }
  void pause() override { server_.pause(); }
  void resume() override { server_.resume(); }
  std::string address() const override { return server_.address(); }
  Store store(const std::string& address, std::chrono::milliseconds connect_timeout) const override {
    return {"registry-zk", "{ use: zookeeper, servers: \"" + address + "\", session_timeout: " +
                               std::to_string(lease_.count()) +
                               "ms, connect_timeout: " + std::to_string(connect_timeout.count()) + "ms }"};
  }
  std::string standing(const ServiceName& service, const std::string& address) override {
    Hand hand(server_.address());
    const Stat stat = hand.stat(folder(service) + "/" + address);
    return stat.czxid == 0 ? "" : std::to_string(stat.czxid) + " of " + std::to_string(stat.ephemeralOwner);
  }
  std::string changes(const ServiceName& service) override {
    return std::to_string(Hand(server_.address()).stat(folder(service)).cversion);
  }

 private:
  static std::string folder(const ServiceName& service) {
    return "/motan/" + (service.group.empty() ? "default_rpc" : service.group) + "/" + service.interface + "/server";
  }
  const std::chrono::milliseconds lease_;
  ZookeeperServer server_;
};

}  // namespace

PlaceKind zookeeper_place() {
  return {"zookeeper", [](std::chrono::milliseconds lease) { return std::make_unique<ZookeeperPlace>(lease); }, true,
          true};
}

}  // namespace tenon::test
