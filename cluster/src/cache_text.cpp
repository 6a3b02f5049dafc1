// What stands in cache files.
#include <boost/describe/members.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>
#include <boost/json/value_to.hpp>
#include <boost/mp11/algorithm.hpp>
#include <ctime>

#include "cache_file.hpp"

namespace tenon::cluster {

namespace {

namespace bj = boost::json;

constexpr std::string_view format = "tenon cache";
/// A field of Instance more or less is another version.
constexpr std::int64_t version = 1;
using InstanceFields = boost::describe::describe_members<Instance, boost::describe::mod_public>;
static_assert(boost::mp11::mp_size<InstanceFields>::value == 7, "raise the version");

bj::string_view shown(std::string_view text) noexcept { return {text.data(), text.size()}; }

std::string quoted(std::string_view text) { return bj::serialize(bj::value(shown(text))); }

std::string as_text(WallClock::time_point time) {
  const std::time_t seconds = WallClock::to_time_t(time);
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&seconds, &parts)) (void)std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string head(const CacheKey& key, WallClock::time_point written) {
  std::string text = "{\n";
  const auto line = [&text](const char* name, const std::string& value) {
    text += std::string("  \"") + name + "\": " + value + ",\n";
  };
  line("format", quoted(format));
  line("version", std::to_string(version));
  line("written", quoted(as_text(written)));
  line("kind", quoted(key.kind));
  line("application", quoted(key.application));
  line("registry", quoted(key.registry));
  line("service", quoted(key.service.interface));
  line("group", quoted(key.service.group));
  line("service_version", quoted(key.service.version));
  return text;
}

Error broken(const std::string& why) { return Error(Errc::malformed, why, Delivery::not_run); }

const std::string* text_in(const bj::object& object, std::string_view name, std::string& into) {
  const bj::value* const found = object.if_contains(shown(name));
  const bj::string* const text = found ? found->if_string() : nullptr;
  if (!text) return nullptr;
  into.assign(text->data(), text->size());
  return &into;
}

/// The object of a text that is about `key`.
Result<bj::object> open(const CacheKey& key, std::string_view text) {
  bj::parse_options lenient;
  lenient.allow_invalid_utf8 = true;  // registries may name anything; it comes back as it was
  lenient.max_depth = 8;
  bj::error_code error;
  bj::value parsed;
  try {
    parsed = bj::parse(shown(text), error, bj::storage_ptr(), lenient);
  } catch (const std::exception& exception) {
    return broken(std::string("it cannot be parsed: ") + exception.what());
  }
  if (error) return broken("it is not JSON, or was cut short: " + error.message());
  bj::object* const object = parsed.if_object();
  std::string found;
  if (!object || !text_in(*object, "format", found) || found != format)
    return broken("it is something else: no \"format\": \"" + std::string(format) + '"');
  const bj::value* const number = object->if_contains("version");
  const std::int64_t* const its_version = number ? number->if_int64() : nullptr;
  if (!its_version) return broken("it has no version");
  if (*its_version != version)
    return broken("it has version " + std::to_string(*its_version) + " of the format, and this program reads " +
                  std::to_string(version));
  for (const auto& [name, wanted] : {std::pair<const char*, const std::string*>{"kind", &key.kind},
                                     {"application", &key.application},
                                     {"registry", &key.registry},
                                     {"service", &key.service.interface},
                                     {"group", &key.service.group},
                                     {"service_version", &key.service.version}})
    if (!text_in(*object, name, found) || found != *wanted)
      return Error(Errc::not_found, std::string("it is about another ") + name + " than '" + *wanted + "'",
                   Delivery::not_run);
  return std::move(*object);
}

template <class T>
Cached<T> with_time(const bj::object& object, T content) {
  Cached<T> cached{std::move(content), {}};
  (void)text_in(object, "written", cached.written);
  return cached;
}

}  // namespace

std::string to_cache_text(const CacheKey& key, const std::vector<Instance>& instances, WallClock::time_point written) {
  std::string text = head(key, written) + "  \"instances\": [";
  const char* before = "\n    ";
  for (const Instance& instance : instances) {
    text += before + bj::serialize(bj::value_from(instance));
    before = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

std::string to_cache_text(const CacheKey& key, const Document& document, WallClock::time_point written) {
  return head(key, written) + "  \"document_version\": " + std::to_string(document.version) +
         ",\n  \"text\": " + quoted(document.text) + "\n}\n";
}

Result<Cached<std::vector<Instance>>> instances_of_cache(const CacheKey& key, std::string_view text) {
  Result<bj::object> object = open(key, text);
  if (!object.ok()) return std::move(object).error();
  const bj::value* const found = object->if_contains("instances");
  const bj::array* const list = found ? found->if_array() : nullptr;
  if (!list) return broken("it has no list of instances");
  std::vector<Instance> instances;
  for (const bj::value& one : *list) {
    auto instance = bj::try_value_to<Instance>(one);
    if (!instance)
      return broken("its instance " + std::to_string(instances.size() + 1) +
                    " makes no sense: " + instance.error().message());
    if (instance->id.empty() || instance->address.empty())
      return broken("its instance " + std::to_string(instances.size() + 1) + " has no id or no address");
    instances.push_back(std::move(*instance));
  }
  return with_time(*object, std::move(instances));
}

Result<Cached<Document>> document_of_cache(const CacheKey& key, std::string_view text) {
  Result<bj::object> object = open(key, text);
  if (!object.ok()) return std::move(object).error();
  Document document{key.kind, key.service.group, {}, 0};
  if (!text_in(*object, "text", document.text)) return broken("it has no text");
  const bj::value* const number = object->if_contains("document_version");
  if (!number || !number->is_number()) return broken("it has no document_version");
  bj::error_code error;
  document.version = number->to_number<std::uint64_t>(error);
  if (error) return broken("its document_version is no version");
  return with_time(*object, std::move(document));
}

}  // namespace tenon::cluster
