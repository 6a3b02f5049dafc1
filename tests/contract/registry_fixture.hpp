#pragma once
// What the tests of registry_contract.hpp share.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/registry_members.hpp"

namespace tenon::test {

/// Registries of one store, each on its own executor.
class RegistryContract : public testing::TestWithParam<RegistryCase> {
 protected:
  void SetUp() override { connect_ = GetParam().open(); }

  std::unique_ptr<RegistryMember> member() { return std::make_unique<RegistryMember>(connect_); }
  static bool holds(SnapshotDiary& diary, const std::function<bool(const Snapshot&)>& condition) {
    return diary.wait(condition, GetParam().patience);
  }
  static bool shows(SnapshotDiary& diary, std::vector<Instance> wanted) {
    return holds(diary, [&](const Snapshot& now) { return same_instances(now.instances, wanted); });
  }
  bool announces() const { return GetParam().announces; }
  static Instance instance(const std::string& id, std::uint32_t weight = 100) {
    Instance made;
    made.id = id;
    made.transport = "tcp";
    made.address = "10.0.0.1:" + std::to_string(1000 + std::hash<std::string>()(id) % 60000);
    made.protocols = {"tenon"};
    made.weight = weight;
    return made;
  }

  static constexpr const char* deaf = "nobody hears of announcements";
  const ServiceName service_{"demo.Greeter", "blue", "1.0"};
  RegistryCase::Connect connect_;
};

}  // namespace tenon::test
