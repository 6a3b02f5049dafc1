#pragma once
// For tests of `tenon registry` and `tenon command` against a real ZooKeeper, in a root of their own.

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "../zookeeper/nodes_fixture.hpp"
#include "process.hpp"

namespace tenon::test {

/// One of ours, announced as long as it lives.
struct Announced {
  std::unique_ptr<RegistryMember> member;
  std::unique_ptr<Lease> lease;
  ~Announced() { member->drop(lease); }
};

class RegistryTools : public ZookeeperNodes {
 protected:
  /// Runs `tenon WORDS --manifest FILE` on this test's root. With a manifest only the plugins that are needed are
  /// loaded, which is three times as fast as url().
  cli_test::Outcome tool(std::vector<std::string> words) {
    words.insert(words.end(), {"--manifest", manifest_});
    return cli_test::tenon(words);
  }
  std::string url() const { return "zookeeper://" + options.servers + "?root=" + options.root; }

  std::unique_ptr<Announced> announce(const ServiceName& name, const Instance& instance) {
    auto made = std::make_unique<Announced>();
    made->member = member();
    auto lease = made->member->announce(name, instance);
    EXPECT_TRUE(lease.ok()) << lease.error().text();
    if (lease.ok()) made->lease = std::move(*lease);
    return made;
  }
  /// A consumer of Motan's in Java.
  void follow_as_motan(const std::string& group, const std::string& interface = "demo.Greeter") {
    EXPECT_EQ(hand.create(options.root + "/" + group + "/" + interface + "/client/192.0.2.2",
                          write_node_text(zk::sample::java_client, TextEncoding::java), ZOO_EPHEMERAL),
              ZOK);
  }
  /// A file with this text.
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + options.root.substr(1) + "-" + name;
    std::ofstream(path) << text;
    return path;
  }
  std::string component() const {
    return "{use: zookeeper, servers: \"" + options.servers + "\", root: " + options.root + "}";
  }
  std::string command(const std::string& group) { return hand.get(options.root + "/" + group + "/command"); }

 private:
  const std::string manifest_ = file("tool.yaml", "plugins: { search: [\"" PLUGIN_DIR
                                                  "\"], load: [registry-zk, cluster], probe: false }\n"
                                                  "registries: { main: " +
                                                      component() + " }\n");
};

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tenon::test
