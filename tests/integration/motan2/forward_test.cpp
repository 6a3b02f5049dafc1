// A proxying filter hands payloads on untouched: bytes are neither decoded nor encoded in between.

#include "demo_service.hpp"
#include "frames.hpp"

namespace tenon::test {
namespace {

/// client → proxy (filter-forward) → server. The proxy's manifest, as a user would write it.
std::string proxy_manifest(const std::string& upstream, const std::string& compress) {
  return "plugins:\n"
         "  search: [\"" TEST_FILTER_DIR "\", \"" TENON_TEST_PLUGIN_DIR "\"]\n"
         "  load: [transport-tcp, protocol-tenon, protocol-motan2, serialize-pb, serialize-json, serialize-simple,\n"
         "         compress-gzip, cluster, filter-forward]\n"
         "  probe: false\n"
         "log: { level: error }\n"
         "server:\n"
         "  listen: [ { use: tcp, address: \"127.0.0.1:0\", protocols: [tenon, motan2] } ]\n"
         "  services:\n"
         "    - name: " + std::string(demo_interface) + "\n"
         "      filters: [ { use: forward, to: upstream } ]\n"
         "client:\n"
         "  references:\n"
         "    upstream: { service: " + std::string(demo_interface) + ", address: \"" + upstream + "\",\n"
         "                protocol: motan2, serializer: simple" + compress + " }\n";
}

class Forwarding : public ::testing::TestWithParam<const char*> {};

TEST_P(Forwarding, LeavesThePayloadAsItIs) {
  auto server = start(motan_server_options(), {demo_service()});
  ASSERT_TRUE(server);
  Result<AppOptions> manifest = parse_manifest("proxy.yaml", proxy_manifest(server->addresses().at(0), GetParam()));
  ASSERT_TRUE(manifest.ok()) << manifest.error().text();
  auto proxy = start(std::move(*manifest), {demo_service()});
  ASSERT_TRUE(proxy);

  // An echo of a body that our own encoder would never write: a map as tag 20 although its keys and values are text.
  const std::string odd = std::string("\x14\x00\x00\x00\x0c", 5) + std::string("\x01\x00\x00\x00\x01k", 6) +
                          std::string("\x01\x00\x00\x00\x01v", 6);
  const std::string trailing = odd + "not even a value";  // ignored by whoever decodes, carried by whoever does not
  MotanPeer direct(server->addresses().at(0));
  MotanPeer through(proxy->addresses().at(0));
  const Pairs echo{{"M_p", demo_interface}, {"M_m", "echo"}};
  for (MotanPeer* peer : {&direct, &through}) {
    ASSERT_TRUE(peer->send(raw_frame(0, 1 << 3, 6, 5, metadata_text(echo), trailing)));
    const auto reply = peer->receive();
    ASSERT_TRUE(reply);
    EXPECT_FALSE(reply->error()) << reply->exception();
    EXPECT_EQ(reply->id, 5u);
  }

  // Errors come through with their code.
  ASSERT_TRUE(through.send(raw_frame(0, 1 << 3, 6, 6, metadata_text({{"M_p", demo_interface}, {"M_m", "boom"}}),
                                     std::string("\x01\x00\x00\x00\x01x", 6))));
  const auto failed = through.receive();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->errcode(), 30001) << failed->exception();

  // From the other protocol, with a serializer that upstream speaks, too.
  AppOptions chosen = motan_options("client");
  ReferenceOptions reference = reference_options(demo_interface, proxy->addresses().at(0));
  reference.protocol = Component("tenon");
  reference.serializer = Component("simple");
  reference.compress = Component("gzip");
  chosen.client.references["r"] = reference;
  auto client = start(std::move(chosen));
  ASSERT_TRUE(client);
  ClientFunction<std::string(std::string)> hello{client->reference("r"), "hello"};
  for (const std::size_t size : {10, 100'000}) {
    Result<std::string> said = hello(std::string(size, 'z'));
    ASSERT_TRUE(said.ok()) << said.error().text();
    EXPECT_EQ(said->size(), size + 6);
  }
}

INSTANTIATE_TEST_SUITE_P(Upstream, Forwarding, ::testing::Values("", ", compress: gzip"),
                         [](const auto& info) { return std::string(*info.param ? "gzip" : "plain"); });

}  // namespace
}  // namespace tenon::test
