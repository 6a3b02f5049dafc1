#pragma once
// What a Consul agent answers, as JSON. Every function fails with: malformed, in a sentence that says what was
// expected.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/result.hpp"

namespace tenon::consul {

/// The worst of the checks of an instance and of its node.
enum class Health : std::uint8_t { passing, warning, critical };

/// One registration of a service.
struct Registered {
  std::string service;  ///< its name
  std::string id;
  std::string address;  ///< empty: the node's
  std::string node_address;
  std::uint16_t port = 0;
  std::vector<std::string> tags;
  std::map<std::string, std::string> meta;
  Health health = Health::passing;
};

struct KeyValue {
  std::string key;
  std::string value;
  std::uint64_t version = 0;  ///< ModifyIndex
};

/// /v1/health/service/NAME.
Result<std::vector<Registered>> read_health(std::string_view json);
/// /v1/agent/service/ID.
Result<Registered> read_agent_service(std::string_view json);
/// /v1/kv/KEY, with or without `recurse`.
Result<std::vector<KeyValue>> read_key_values(std::string_view json);
/// /v1/kv/KEY?keys.
Result<std::vector<std::string>> read_keys(std::string_view json);
/// The names of /v1/catalog/services.
Result<std::vector<std::string>> read_service_names(std::string_view json);
/// The id of /v1/session/create.
Result<std::string> read_session(std::string_view json);
/// True or false: what a change of a key answers.
Result<bool> read_done(std::string_view json);

/// Nothing: it is no Base64.
Result<std::string> decode_base64(std::string_view text);

/// What an operator said about a registration, or that it left: the values of our own keys.
struct Word {
  std::string id;     ///< of the instance
  std::string stamp;  ///< of what it was said about; see Registration
  std::uint32_t weight = 0;
  bool has_weight = false;
  bool serving = true;
  bool has_serving = false;
  bool operator==(const Word&) const = default;
};
Result<Word> read_word(std::string_view json);
std::string write_word(const Word& word);

}  // namespace tenon::consul
