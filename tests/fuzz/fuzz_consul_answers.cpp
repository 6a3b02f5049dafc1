// Reads the input as everything a Consul agent answers, as a tag and as a key of ours. Checked here: nothing grows
// beyond the input, and what was understood is understood again after it was written.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "answers.hpp"
#include "names.hpp"
#include "options.hpp"
#include "provider_node.hpp"
#include "registration.hpp"
#include "service_url.hpp"

namespace {

using namespace tenon;          // NOLINT
using namespace tenon::consul;  // NOLINT

void require(bool holds) {
  if (!holds) std::abort();
}

void check_registered(const Registered& registered) {
  require(!registered.id.empty() && !registered.service.empty());
  const auto provider = read_provider(registered);
  if (provider.ok()) {
    require(provider->registration == registered.id && !provider->interface.empty());
    std::string host;
    std::uint16_t port = 0;
    if (!zk::split_host_port(provider->instance.address, host, port)) return;  // not ours: we would not announce it
    const Registration again =
        provider_registration({provider->interface, "g", provider->version}, provider->instance, registered.id);
    require(!write_registration(again).empty());
    Registered listed;
    listed.service = again.service;
    listed.id = again.id;
    listed.tags = again.tags;
    listed.health = registered.health;
    const auto second = read_provider(listed);
    require(second.ok() && second->instance == provider->instance && second->interface == provider->interface);
  }
  (void)read_consumer(registered);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (const auto found = read_health(bytes); found.ok())
    for (const Registered& each : *found) check_registered(each);
  if (const auto found = read_agent_service(bytes); found.ok()) check_registered(*found);
  if (const auto found = read_key_values(bytes); found.ok()) {
    std::size_t total = 0;
    for (const KeyValue& each : *found) total += each.key.size() + each.value.size();
    require(total <= bytes.size());
  }
  if (const auto word = read_word(bytes); word.ok()) require(*read_word(write_word(*word)) == *word);
  (void)read_keys(bytes);
  (void)read_service_names(bytes);
  (void)read_session(bytes);
  (void)read_done(bytes);
  (void)parse_agent_address(bytes);
  if (const auto decoded = decode_base64(bytes); decoded.ok()) require(decoded->size() <= bytes.size());
  require(java_url_decode(java_url_encode(bytes)) == bytes);
  Registered tagged;
  tagged.service = "motanrpc_g";
  tagged.id = "10.0.0.1:80-demo.G";
  tagged.tags = {"URL_" + bytes};
  check_registered(tagged);
  return 0;
}
