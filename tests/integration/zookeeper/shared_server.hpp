#pragma once
// One ZooKeeper server for all tests of a program that leave it alone. Each has a root of its own.

#include "fixture.hpp"

namespace tenon::test {

class SharedServer : public testing::Environment {
 public:
  void SetUp() override {
    server_ = std::make_unique<ZookeeperServer>();
    server_->start();
  }
  void TearDown() override { server_.reset(); }
  ZookeeperServer& server() const { return *server_; }
  /// For a registry with a root that nobody else uses.
  zk::ZkOptions options() {
    zk::ZkOptions options = zk_options(server_->address());
    options.session_timeout = seconds(10);
    options.root = "/test-" + std::to_string(++roots_);
    return options;
  }

 private:
  std::unique_ptr<ZookeeperServer> server_;
  std::atomic<int> roots_ = 0;
};

extern SharedServer* const shared;

}  // namespace tenon::test
