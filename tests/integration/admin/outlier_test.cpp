// What tenon.Admin says of instances that get less than their weight: outliers, and those that are new.
#include "asking.hpp"
#include "cluster_options.hpp"
#include "integration/rpc/pool_service.hpp"

namespace tenon {
namespace {

using test::Asking;
using test::eventually;
using test::Labour;

class OutlierTest : public test::PoolTest {
 protected:
  std::unique_ptr<App> caller(AppOptions options, const cluster::ClusterOptions& chosen) const {
    ReferenceOptions& reference = options.client.references["r"];
    reference.cluster = Component::of("default", chosen);
    reference.ha = Component("failover");
    options.admin = AdminOptions{sockets_.address("a.sock"), {}};
    return test::start(std::move(options));
  }
  admin::EndpointState endpoint(const std::string& address) const {
    const admin::Stats stats = asking().stats();
    for (const admin::EndpointState& state : stats.references.at(0).endpoints)
      if (state.address == address) return state;
    return {};
  }
  std::uint64_t counted(const std::string& name) const {
    const admin::Stats stats = asking().stats();
    for (const Count& count : stats.references.at(0).counts)
      if (count.name == name) return count.value;
    ADD_FAILURE() << name << " is not counted";
    return 0;
  }
  const Asking& asking() const {
    if (!asking_) asking_ = std::make_unique<Asking>(sockets_.address("a.sock"));
    return *asking_;
  }

  const test::SocketFolder sockets_;
  mutable std::unique_ptr<Asking> asking_;
};

TEST_F(OutlierTest, AnInstanceThatIsPassedOver) {
  begin(test::pool_options({}, ""));
  const auto other = test::start(test::pool_options({}, ""), {std::make_shared<Labour>()});
  ASSERT_TRUE(other);
  const std::string bad = server->addresses()[0];
  client = caller(test::client_options("test.Labour", bad + "," + other->addresses()[0]), {});
  ASSERT_TRUE(client);
  ASSERT_TRUE(eventually([&] { return endpoint(bad).connections == 1; }));
  EXPECT_FALSE(endpoint(bad).ejected);
  EXPECT_EQ(endpoint(bad).effective_weight, 100);
  CallOptions to_bad;
  to_bad.instance = bad;
  for (int i = 1; i <= 5; ++i) {
    send(Labour::boom, i, outcomes, to_bad);
    ASSERT_TRUE(eventually([&] { return outcomes.lost == i; }));
  }
  ASSERT_TRUE(eventually([&] {
    EXPECT_TRUE(run(Labour::quick, 1).ok());  // a call that would go there finds it out
    return endpoint(bad).ejected;
  }));
  const admin::EndpointState out = endpoint(bad);
  EXPECT_GT(out.ejected_for.count(), 0);
  EXPECT_EQ(out.faults, 5u);
  EXPECT_EQ(out.errors, 5u);
  EXPECT_EQ(out.connections, 1u) << "it is connected all the same";
  EXPECT_FALSE(endpoint(other->addresses()[0]).ejected);
  EXPECT_EQ(counted("ejections"), 1u);
  EXPECT_EQ(counted("retries"), 0u);
}

TEST_F(OutlierTest, AnInstanceThatIsNewGetsLess) {
  const auto provide = [] {
    AppOptions options = test::pool_options({}, "");
    options.plugins.load.push_back("registry-memory");
    options.registries["here"] = Component("memory");
    options.server.services[0].registry = {"here"};
    return test::start(std::move(options), {std::make_shared<Labour>()});
  };
  const auto first = provide();
  AppOptions options = test::client_options("test.Labour", "");
  options.plugins.load.push_back("registry-memory");
  options.registries["here"] = Component("memory");
  options.client.references["r"].address.clear();
  options.client.references["r"].registry = {"here"};
  cluster::ClusterOptions growing;
  growing.warm_up = std::chrono::minutes(10);
  client = caller(std::move(options), growing);
  ASSERT_TRUE(first && client);
  ASSERT_TRUE(eventually([&] { return endpoint(first->addresses()[0]).connections == 1; }));
  const auto late = provide();
  ASSERT_TRUE(late);
  ASSERT_TRUE(eventually([&] { return endpoint(late->addresses()[0]).connections == 1; }));
  EXPECT_EQ(endpoint(first->addresses()[0]).effective_weight, 100);
  const admin::EndpointState grows = endpoint(late->addresses()[0]);
  EXPECT_EQ(grows.weight, 100u);
  EXPECT_GT(grows.effective_weight, 0);
  EXPECT_LT(grows.effective_weight, 100);
  // A weight that an operator changes needs no new connection, and is seen.
  ASSERT_TRUE(late->update_announcement({"test.Labour", "", ""}, {.weight = 40}).ok());
  EXPECT_TRUE(eventually([&] { return endpoint(late->addresses()[0]).weight == 40; }));
}

}  // namespace
}  // namespace tenon
