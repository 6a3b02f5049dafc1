#pragma once
// One agent for all tests of a program that leave it alone.

#include "fixture.hpp"

namespace tenon::test {

class SharedAgent : public testing::Environment {
 public:
  void SetUp() override {
    agent_ = std::make_unique<ConsulAgent>();
    agent_->start();
  }
  void TearDown() override { agent_.reset(); }
  ConsulAgent& agent() const { return *agent_; }
  /// For a registry over nothing: what earlier tests left is taken off.
  consul::ConsulOptions options() const {
    agent_->clear();
    return consul_options(agent_->address());
  }

 private:
  std::unique_ptr<ConsulAgent> agent_;
};

extern SharedAgent* const shared;

}  // namespace tenon::test
