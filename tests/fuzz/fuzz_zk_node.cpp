// Reads the input as what a node of ZooKeeper says: a text, plain or in Java's serialisation, a service URL, a
// provider, a consumer; and as a list of servers. Checked here: nothing grows beyond the input, and what was understood
// is understood again after it was written.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "layout.hpp"
#include "node_text.hpp"
#include "provider_node.hpp"
#include "servers.hpp"
#include "service_url.hpp"

namespace {

using namespace tenon;      // NOLINT
using namespace tenon::zk;  // NOLINT

void require(bool holds) {
  if (!holds) std::abort();
}

void check_text(const std::string& bytes) {
  const auto text = read_node_text(bytes);
  if (!text.ok()) return;
  require(text->text.size() <= bytes.size() + bytes.size() / 2);
  const auto again = read_node_text(write_node_text(text->text, text->encoding));
  require(again.ok());
  if (text->encoding == TextEncoding::java) {
    // Once more: then there is nothing left that is no UTF-8.
    const auto third = read_node_text(write_node_text(again->text, TextEncoding::java));
    require(third.ok() && *third == *again);
  } else {
    require(*again == *text);
  }
}

void check_provider(const std::string& bytes) {
  const auto node = read_provider(bytes, "10.0.0.1:4080");
  if (!node.ok()) return;
  require(!node->instance.id.empty() && !node->instance.address.empty());
  std::string host;
  std::uint16_t port = 0;
  if (!split_host_port(node->instance.address, host, port)) return;  // not ours: we would not have announced it
  const auto again = read_provider(
      write_provider({"demo.Greeter", "g", node->version}, node->instance, node->withdrawn), node->instance.address);
  require(again.ok());
  require(again->instance == node->instance);
  require(again->version == node->version && again->withdrawn == node->withdrawn);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_text(bytes);
  check_provider(bytes);
  if (const auto url = parse_service_url(bytes); url.ok()) {
    const std::string text = to_string(*url);
    const auto again = parse_service_url(text);
    if (again.ok()) require(to_string(*again) == text);
  }
  if (const auto weighed = with_weight(bytes, "10.0.0.1:4080", 7); weighed.ok()) {
    const auto node = read_provider(*weighed, "10.0.0.1:4080");
    require(!node.ok() || node->instance.weight == 7);
  }
  if (const auto marked = with_serving(bytes, "10.0.0.1:4080", false); marked.ok()) {
    const auto node = read_provider(*marked, "10.0.0.1:4080");
    require(!node.ok() || !node->serves(true));
  }
  require(!read_consumer(bytes, "name").name.empty());
  (void)read_consumer(bytes, bytes);
  if (const auto servers = parse_servers(bytes); servers.ok())
    for (const Server& server : *servers) require(!server.host.empty() && server.port != 0);
  (void)check_name("name", bytes);
  (void)check_root(bytes);
  return 0;
}
