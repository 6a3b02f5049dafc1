#include <boost/json.hpp>

#include "support/consul_agent.hpp"
#include "support/place.hpp"

namespace tenon::test {

namespace {

void skip(const std::string& why) { GTEST_SKIP() << why; }

// Without the program nothing is started: the test that made this place is marked as skipped, and its body not run.
class ConsulPlace final : public Place {
 public:
  explicit ConsulPlace(std::chrono::milliseconds ttl) : ttl_(ttl), missing_(ConsulAgent::program().missing) {
    if (!missing_.empty()) skip(missing_);
  }
  void start() override {
    if (missing_.empty()) agent_.start();
  }
  void kill() override { agent_.kill(); }
  void wipe() override { agent_.wipe(); }
  void pause() override { agent_.pause(); }
  void resume() override { agent_.resume(); }
  std::string address() const override { return agent_.address(); }
  Store store(const std::string& address, std::chrono::milliseconds connect_timeout) const override {
    return {"registry-consul", "{ use: consul, address: \"" + address + "\", ttl: " + std::to_string(ttl_.count()) +
                                   "ms, connect_timeout: " + std::to_string(connect_timeout.count()) + "ms }"};
  }
  std::string standing(const ServiceName& service, const std::string& address) override {
    for (const Entry& entry : entries(service))
      if (entry.address == address) return entry.stamp;
    return {};
  }
  std::string changes(const ServiceName& service) override {
    std::string text;
    for (const Entry& entry : entries(service)) text += entry.address + " since " + entry.stamp + "\n";
    return text;
  }

 private:
  struct Entry {
    std::string address;
    std::string stamp;  ///< who announced it, and the index at which it came
  };
  /// Whose check is not critical, in the order of their addresses.
  std::vector<Entry> entries(const ServiceName& service) const {
    const std::string group = service.group.empty() ? "default_rpc" : service.group;
    const std::string answer = agent_.ask("GET", "/v1/health/service/motanrpc_" + group);
    std::vector<Entry> found;
    if (!answer.starts_with("200 ")) return found;
    const boost::json::value parsed = boost::json::parse(answer.substr(4));
    for (const boost::json::value& each : parsed.as_array()) {
      const boost::json::object& registered = each.at("Service").as_object();
      bool critical = registered.at("ID").as_string().find(service.interface) == boost::json::string::npos;
      for (const boost::json::value& check : each.at("Checks").as_array())
        critical = critical || check.at("Status").as_string() == "critical";
      if (critical) continue;
      const boost::json::value* stamp = each.at("Service").at("Meta").if_object()
                                            ? each.at("Service").at("Meta").as_object().if_contains("tenon-stamp")
                                            : nullptr;
      found.push_back({std::string(registered.at("Address").as_string()) + ":" +
                           std::to_string(registered.at("Port").to_number<int>()),
                       (stamp ? std::string(stamp->as_string()) : std::string("nobody's")) + " at " +
                           std::to_string(registered.at("CreateIndex").to_number<std::int64_t>())});
    }
    std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) { return a.address < b.address; });
    return found;
  }
  const std::chrono::milliseconds ttl_;
  const std::string missing_;
  ConsulAgent agent_;
};

}  // namespace

PlaceKind consul_place() {
  PlaceKind kind{"consul", [](std::chrono::milliseconds ttl) { return std::make_unique<ConsulPlace>(ttl); },
                 std::nullopt, true};
  kind.fetched = true;
  return kind;
}

}  // namespace tenon::test
