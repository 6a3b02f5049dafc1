#include "names.hpp"

#include <utility>

#include "layout.hpp"
#include "service_url.hpp"
#include "tenon/utf8.hpp"

namespace tenon::consul {

namespace {

constexpr std::size_t longest_name = 255;
constexpr char digits[] = "0123456789ABCDEF";

bool alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

void append_triple(std::string& out, char c) {
  const auto value = static_cast<unsigned char>(c);
  out.push_back('%');
  out.push_back(digits[value >> 4]);
  out.push_back(digits[value & 15]);
}

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

std::string key_of(std::string_view root, const std::string& group, const std::string& id) {
  std::string key = std::string(root) + zk::group_or_default(group) + "/";
  return id.empty() ? key : key + escape(id);
}

}  // namespace

std::string provider_service(const std::string& group) {
  return std::string(provider_prefix) + zk::group_or_default(group);
}

std::string consumer_service(const std::string& group) {
  return std::string(consumer_prefix) + zk::group_or_default(group);
}

std::string registration_id(const std::string& address, const std::string& interface, int number) {
  return address + "-" + interface + (number == 1 ? "" : "-" + std::to_string(number));
}

std::string document_key(const std::string& kind, const std::string& group) {
  return std::string(documents_root) + kind + "/" + zk::group_or_default(group);
}

std::string word_key(const std::string& group, const std::string& id) { return key_of(words_root, group, id); }
std::string tomb_key(const std::string& group, const std::string& id) { return key_of(tombs_root, group, id); }

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~')
      out.push_back(c);
    else
      append_triple(out, c);
  }
  return out;
}

std::string escape_key(std::string_view key) {
  std::string out;
  while (true) {
    const std::size_t slash = key.find('/');
    out += escape(key.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    out.push_back('/');
    key.remove_prefix(slash + 1);
  }
}

std::string java_url_encode(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  for (const char c : text) {
    if (alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '*')
      out.push_back(c);
    else if (c == ' ')
      out.push_back('+');
    else
      append_triple(out, c);
  }
  return out;
}

std::string java_url_decode(std::string_view text) {
  std::string spaced(text);
  for (char& c : spaced)
    if (c == '+') c = ' ';
  return zk::percent_decode(spaced);
}

Result<void> check_name(std::string_view what, std::string_view name) {
  const std::string begin = std::string(what) + " '" + std::string(name.substr(0, 100)) + "' ";
  if (name.empty()) return refuse(std::string(what) + " is empty");
  if (name == "." || name == "..") return refuse(begin + "cannot be a part of a path in Consul");
  if (name.size() > longest_name) return refuse(begin + "is longer than 255 bytes");
  if (name.find('/') != std::string_view::npos)
    return refuse(begin + "contains '/', which separates the parts of a key in Consul");
  if (!is_utf8(name)) return refuse(begin + "is no UTF-8 text, so it cannot be a name in Consul");
  for (const char c : name)
    if ((c >= 0 && c < 0x20) || c == 0x7F) return refuse(begin + "contains a control character");
  return {};
}

Result<void> check_service(const ServiceName& service) {
  if (auto checked = check_name("the service's name", service.interface); !checked.ok()) return checked;
  return check_name("the service's group", zk::group_or_default(service.group));
}

Result<void> check_document(const std::string& kind, const std::string& group) {
  if (auto checked = check_name("the document's kind", kind); !checked.ok()) return checked;
  return check_name("the document's group", zk::group_or_default(group));
}

}  // namespace tenon::consul
