#include "answers.hpp"

#include <array>
#include <boost/json.hpp>
#include <limits>
#include <utility>

#include "names.hpp"
#include "service_url.hpp"

namespace tenon::consul {

namespace {

namespace json = boost::json;

constexpr std::size_t deepest = 32;

Error malformed(std::string_view what) {
  return Error(Errc::malformed, "the answer is not what a Consul agent says: " + std::string(what));
}

Result<json::value> parse(std::string_view text) {
  json::parse_options options;
  options.max_depth = deepest;
  json::error_code failed;
  json::value value = json::parse(json::string_view(text.data(), text.size()), failed, {}, options);
  if (failed) return malformed("no JSON (" + failed.message() + ")");
  return value;
}

// Null where it is absent, null or of another type: Consul writes null for what is empty.
const json::object* object_in(const json::object& in, std::string_view name) {
  const json::value* found = in.if_contains(json::string_view(name.data(), name.size()));
  return found ? found->if_object() : nullptr;
}

std::string text_in(const json::object& in, std::string_view name) {
  const json::value* found = in.if_contains(json::string_view(name.data(), name.size()));
  const json::string* text = found ? found->if_string() : nullptr;
  return text ? std::string(text->data(), text->size()) : std::string();
}

bool number_in(const json::object& in, std::string_view name, std::uint64_t& number) {
  const json::value* found = in.if_contains(json::string_view(name.data(), name.size()));
  if (!found) return false;
  if (const auto* positive = found->if_int64()) {
    if (*positive < 0) return false;
    number = static_cast<std::uint64_t>(*positive);
    return true;
  }
  if (const auto* large = found->if_uint64()) {
    number = *large;
    return true;
  }
  return false;
}

Result<void> take_service(const json::object& from, Registered& registered) {
  registered.service = text_in(from, "Service");
  registered.id = text_in(from, "ID");
  registered.address = text_in(from, "Address");
  if (registered.id.empty() || registered.service.empty()) return malformed("a service without ID or name");
  std::uint64_t port = 0;
  if (number_in(from, "Port", port)) {
    if (port > std::numeric_limits<std::uint16_t>::max()) return malformed("a service with a port that is none");
    registered.port = static_cast<std::uint16_t>(port);
  }
  if (const json::value* tags = from.if_contains("Tags"); tags && tags->is_array())
    for (const json::value& tag : tags->get_array())
      if (const json::string* text = tag.if_string()) registered.tags.emplace_back(text->data(), text->size());
  if (const json::object* meta = object_in(from, "Meta"))
    for (const auto& [name, value] : *meta)
      if (const json::string* text = value.if_string())
        registered.meta.emplace(std::string(name), std::string(text->data(), text->size()));
  return {};
}

Result<Registered> read_entry(const json::value& value) {
  const json::object* entry = value.if_object();
  const json::object* service = entry ? object_in(*entry, "Service") : nullptr;
  const json::value* checks = entry ? entry->if_contains("Checks") : nullptr;
  if (!service || !checks || (!checks->is_array() && !checks->is_null()))
    return malformed("an entry without Service and Checks");
  Registered registered;
  if (auto taken = take_service(*service, registered); !taken.ok()) return std::move(taken).error();
  if (const json::object* node = object_in(*entry, "Node")) registered.node_address = text_in(*node, "Address");
  if (!checks->is_array()) return registered;
  for (const json::value& check : checks->get_array()) {
    const json::object* one = check.if_object();
    if (!one) return malformed("a check that is no object");
    const std::string status = text_in(*one, "Status");
    if (status == "warning" && registered.health == Health::passing)
      registered.health = Health::warning;
    else if (status != "passing" && status != "warning")
      registered.health = Health::critical;
  }
  return registered;
}

Result<std::vector<std::string>> read_texts(std::string_view text) {
  auto value = parse(text);
  if (!value.ok()) return std::move(value).error();
  const json::array* array = value->if_array();
  if (!array) return malformed("no list of texts");
  std::vector<std::string> texts;
  for (const json::value& each : *array) {
    const json::string* one = each.if_string();
    if (!one) return malformed("a list in which not everything is a text");
    texts.emplace_back(one->data(), one->size());
  }
  return texts;
}

constexpr std::array<signed char, 256> base64_values = [] {
  std::array<signed char, 256> values{};
  values.fill(-1);
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<signed char>(i);
  return values;
}();

}  // namespace

Result<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return malformed("a value that is no Base64");
  std::size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::string out;
  out.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = base64_values[static_cast<unsigned char>(c)];
    if (value < 0) return malformed("a value that is no Base64");
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 0xFF));
  }
  return out;
}

Result<std::vector<Registered>> read_health(std::string_view text) {
  auto value = parse(text);
  if (!value.ok()) return std::move(value).error();
  const json::array* array = value->if_array();
  if (!array) return malformed("no list of instances");
  std::vector<Registered> found;
  for (const json::value& each : *array) {
    auto entry = read_entry(each);
    if (!entry.ok()) return std::move(entry).error();
    found.push_back(std::move(*entry));
  }
  return found;
}

Result<Registered> read_agent_service(std::string_view text) {
  auto value = parse(text);
  if (!value.ok()) return std::move(value).error();
  const json::object* object = value->if_object();
  if (!object) return malformed("no service");
  Registered registered;
  if (auto taken = take_service(*object, registered); !taken.ok()) return std::move(taken).error();
  return registered;
}

Result<std::vector<KeyValue>> read_key_values(std::string_view text) {
  auto value = parse(text);
  if (!value.ok()) return std::move(value).error();
  const json::array* array = value->if_array();
  if (!array) return malformed("no list of keys");
  std::vector<KeyValue> found;
  for (const json::value& each : *array) {
    const json::object* entry = each.if_object();
    KeyValue one;
    if (entry) one.key = text_in(*entry, "Key");
    if (one.key.empty() || !number_in(*entry, "ModifyIndex", one.version) || one.version == 0)
      return malformed("an entry without Key and ModifyIndex");
    auto decoded = decode_base64(text_in(*entry, "Value"));
    if (!decoded.ok()) return std::move(decoded).error();
    one.value = std::move(*decoded);
    found.push_back(std::move(one));
  }
  return found;
}

Result<std::vector<std::string>> read_keys(std::string_view text) { return read_texts(text); }

Result<std::vector<std::string>> read_service_names(std::string_view text) {
  auto value = parse(text);
  if (!value.ok()) return std::move(value).error();
  const json::object* object = value->if_object();
  if (!object) return malformed("no services by name");
  std::vector<std::string> names;
  for (const auto& [name, tags] : *object) names.emplace_back(name);
  return names;
}

Result<std::string> read_session(std::string_view text) {
  auto value = parse(text);
  if (!value.ok()) return std::move(value).error();
  const json::object* object = value->if_object();
  std::string id = object ? text_in(*object, "ID") : std::string();
  if (id.empty()) return malformed("a session without ID");
  return id;
}

Result<bool> read_done(std::string_view text) {
  auto value = parse(text);
  if (!value.ok()) return std::move(value).error();
  const bool* done = value->if_bool();
  if (!done) return malformed("neither true nor false");
  return *done;
}

Result<Word> read_word(std::string_view text) {
  auto value = parse(text);
  if (!value.ok()) return std::move(value).error();
  const json::object* object = value->if_object();
  if (!object) return malformed("no object of ours");
  Word word;
  word.id = zk::percent_decode(text_in(*object, "id"));
  word.stamp = text_in(*object, "stamp");
  if (word.id.empty()) return malformed("an object of ours without id");
  std::uint64_t weight = 0;
  if (number_in(*object, "weight", weight) && weight <= std::numeric_limits<std::uint32_t>::max()) {
    word.weight = static_cast<std::uint32_t>(weight);
    word.has_weight = true;
  }
  if (const json::value* serving = object->if_contains("serving"); serving && serving->is_bool()) {
    word.serving = serving->get_bool();
    word.has_serving = true;
  }
  return word;
}

std::string write_word(const Word& word) {
  json::object object;
  object["id"] = escape(word.id);  // it may be any bytes
  object["stamp"] = word.stamp;
  if (word.has_weight) object["weight"] = word.weight;
  if (word.has_serving) object["serving"] = word.serving;
  return json::serialize(object);
}

}  // namespace tenon::consul
