#pragma once
// Real Apps that meet at real ZooKeeper servers; see ../discovery/live_fixture.hpp.

#include "../discovery/live_fixture.hpp"
#include "hand.hpp"
#include "support/zookeeper_server.hpp"

namespace tenon::test {

class LiveServers : public Live {
 protected:
  static constexpr const char* service_path = "/motan/blue/test.Who";

  /// `servers`: "HOST:PORT,HOST:PORT".
  void meet_at(const std::string& servers, milliseconds connect_timeout = seconds(1)) {
    store_ = {"registry-zk", "{ use: zookeeper, servers: \"" + servers +
                                 "\", session_timeout: " + std::to_string(session.count()) +
                                 "ms, connect_timeout: " + std::to_string(connect_timeout.count()) + "ms }"};
  }
};

}  // namespace tenon::test
