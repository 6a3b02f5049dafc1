#include "limits.hpp"

#include <algorithm>

#include "tenon/utf8.hpp"

namespace tenon::center {

namespace {

Error refuse(std::string text) {
  return Error(Errc::invalid_argument, std::move(text), Delivery::not_run, Advice::never);
}

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }
// U+0080 to U+009F are C2 80 to C2 9F.
bool has_control(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_control(text[at])) return true;
    if (text[at] == '\xC2' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0) return true;
  }
  return false;
}

Result<void> check_text(std::string_view what, std::string_view text, std::size_t limit, bool may_be_empty) {
  if (text.empty()) return may_be_empty ? Result<void>() : Result<void>(refuse(std::string(what) + " is empty"));
  if (text.size() > limit)
    return refuse(std::string(what) + ' ' + quoted(text) + " has " + std::to_string(text.size()) + " bytes; at most " +
                  std::to_string(limit));
  if (!is_utf8(text)) return refuse(std::string(what) + " is not UTF-8");
  if (has_control(text)) return refuse(std::string(what) + ' ' + quoted(text) + " has control characters");
  return {};
}

Result<void> check_name(std::string_view what, std::string_view name, bool may_be_empty = false) {
  if (auto checked = check_text(what, name, max_name, may_be_empty); !checked.ok()) return checked;
  if (name == "." || name == "..") return refuse(std::string(what) + " must not be " + quoted(name));
  if (name.find('/') != std::string_view::npos)
    return refuse(std::string(what) + ' ' + quoted(name) + " must not have '/'");
  return {};
}

bool is_key(std::string_view text) noexcept {
  return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

Result<void> check_metadata(const Instance& instance) {
  if (instance.metadata.size() > max_metadata_entries)
    return refuse("it has " + std::to_string(instance.metadata.size()) + " metadata entries; at most " +
                  std::to_string(max_metadata_entries));
  std::size_t bytes = 0;
  for (const auto& [key, value] : instance.metadata) {
    bytes += key.size() + value.size();
    if (bytes > max_metadata_bytes)
      return refuse("its metadata has more than " + std::to_string(max_metadata_bytes) + " bytes");
    if (auto checked = check_text("a metadata key", key, max_metadata_bytes, false); !checked.ok()) return checked;
    if (!is_utf8(value) || value.find('\0') != std::string::npos)
      return refuse("metadata " + quoted(key) + " is not a text");
  }
  return {};
}

Result<void> check_parts(const Instance& instance) {
  if (auto checked = check_text("its address", instance.address, max_address, false); !checked.ok()) return checked;
  if (auto checked = check_name("its transport", instance.transport); !checked.ok()) return checked;
  if (instance.protocols.size() > max_protocols)
    return refuse("it has " + std::to_string(instance.protocols.size()) + " protocols; at most " +
                  std::to_string(max_protocols));
  for (const std::string& protocol : instance.protocols)
    if (auto checked = check_name("a protocol", protocol); !checked.ok()) return checked;
  return check_metadata(instance);
}

// As JSON would write it, which takes most.
std::size_t written(std::string_view text) noexcept {
  std::size_t bytes = 5;  // quotes and a separator, or a tag and a length
  for (const char c : text) bytes += is_control(c) ? 6 : c == '"' || c == '\\' || c == '/' ? 2 : 1;
  return bytes;
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t shown = 60;
  if (!is_utf8(text)) return "(not UTF-8)";
  std::size_t end = std::min(text.size(), shown);
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string quoted = '"' + std::string(text.substr(0, end)) + (end < text.size() ? "…\"" : "\"");
  std::ranges::replace_if(quoted, is_control, '?');
  return quoted;
}

Result<void> check_key(const ClientKey& key) {
  if (!is_key(key.id)) return refuse("the client's id must be 32 hexadecimal digits");
  if (!is_key(key.secret)) return refuse("the client's secret must be 32 hexadecimal digits");
  return {};
}

Result<void> check_opening(const Opening& opening) {
  if (auto checked = check_key(opening.key); !checked.ok()) return checked;
  if (opening.token.size() > max_token)
    return refuse("the token has more than " + std::to_string(max_token) + " bytes");
  return check_text("the client's name", opening.name, max_application, true);
}

Result<void> check_application(std::string_view name) {
  return check_text("the application's name", name, max_application, true);
}

Result<void> check_service(const ServiceName& service) {
  if (auto checked = check_name("the service's interface", service.interface); !checked.ok()) return checked;
  if (auto checked = check_name("the service's group", service.group, true); !checked.ok()) return checked;
  return check_name("the service's version", service.version, true);
}

Result<void> check_id(std::string_view id) { return check_text("the instance's id", id, max_id, false); }

Result<void> check_instance(const Instance& instance) {
  if (auto checked = check_id(instance.id); !checked.ok()) return checked;
  auto checked = check_parts(instance);
  if (!checked.ok()) return std::move(checked).error().prefix("instance " + quoted(instance.id));
  return checked;
}

Result<void> check_document_name(std::string_view kind, std::string_view group) {
  if (auto checked = check_name("the document's kind", kind); !checked.ok()) return checked;
  return check_name("the document's group", group, true);
}

Result<void> check_document(const Document& document) {
  if (auto checked = check_document_name(document.kind, document.group); !checked.ok()) return checked;
  const std::string which = "the " + document.kind + " of group " + quoted(document.group);
  if (document.text.size() > max_document_text)
    return refuse(which + " has " + std::to_string(document.text.size()) + " bytes; at most " +
                  std::to_string(max_document_text));
  if (!is_utf8(document.text)) return refuse(which + " is not UTF-8");
  if (written(document.text) > max_document_written)
    return refuse(which + " has so many control characters that it would not fit into a message");
  return {};
}

std::size_t bytes_in_list(const Instance& instance) noexcept {
  std::size_t bytes = 128;  // the members' names, numbers, brackets
  bytes += written(instance.id) + written(instance.transport) + written(instance.address);
  for (const std::string& protocol : instance.protocols) bytes += written(protocol);
  for (const auto& [key, value] : instance.metadata) bytes += written(key) + written(value);
  return bytes;
}

}  // namespace tenon::center
