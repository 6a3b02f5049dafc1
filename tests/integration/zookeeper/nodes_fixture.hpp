#pragma once
// For tests that look at what stands in ZooKeeper.

#include "../../unit/registry-zk/samples.hpp"
#include "node_text.hpp"
#include "provider_node.hpp"
#include "shared_server.hpp"

namespace tenon::test {

using zk::TextEncoding;
using zk::write_node_text;

/// A root of its own on the shared server.
class ZookeeperNodes : public testing::Test {
 protected:
  ZookeeperNodes() : options(shared->options()), base(options.root + "/blue/demo.Greeter") {}
  std::unique_ptr<RegistryMember> member() { return std::make_unique<RegistryMember>(connect_to(options)); }
  std::unique_ptr<Watch> watch(RegistryMember& at, const ServiceName& what, Ears<Snapshot>& ears) {
    return at.on([&] {
      auto made = at.registry->watch({what, "shop"}, ears.observer());
      EXPECT_TRUE(made.ok()) << made.error().text();
      return std::move(*made);
    });
  }
  std::unique_ptr<Watch> watch_document(RegistryMember& at, const std::string& kind, Ears<Document>& ears) {
    return at.on([&] {
      auto made = at.registry->watch_document(kind, "blue", ears.observer());
      EXPECT_TRUE(made.ok()) << made.error().text();
      return std::move(*made);
    });
  }
  static void end(RegistryMember& at, std::unique_ptr<Watch>& watch) {
    at.on([&] { watch.reset(); });
  }
  static Result<void> write(RegistryMember& at, const Document& document) {
    return at.run([&] { return at.registry->admin()->write(document); });
  }
  static Document read(RegistryMember& at, const std::string& kind) {
    auto document = at.run([&] { return at.registry->admin()->read(kind, "blue"); });
    EXPECT_TRUE(document.ok()) << document.error().text();
    return document.ok() ? *document : Document();
  }

  const ServiceName service{"demo.Greeter", "blue", "1.0"};
  zk::ZkOptions options;
  const std::string base;
  Hand hand{shared->server().address()};
};

}  // namespace tenon::test
