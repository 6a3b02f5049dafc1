#include "metadata.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tenon::motan2 {
namespace {

constexpr std::uint64_t max_timeout_ms = std::uint64_t{1} << 40;  // 34 years; more is cut to this

// A number that is none is treated as missing: Motan's peers do not refuse a call for it either.
std::uint64_t milliseconds(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc::result_out_of_range) return max_timeout_ms;
  if (fault != std::errc() || end != text.data() + text.size()) return 0;
  return std::min(value, max_timeout_ms);
}

// Keys that the session itself writes, in one direction or the other.
constexpr std::array own_keys{key::path,           key::method,  key::group,        key::version,
                              key::proxy_protocol, key::timeout, key::process_time, key::exception,
                              key::error_detail};

bool is_own(std::string_view name) noexcept { return std::ranges::find(own_keys, name) != own_keys.end(); }

// What could not be sent on as an attachment is none: a key of the other direction's, an empty key.
Result<void> attach(Headers& attachments, std::string_view key, std::string_view value, std::size_t max_count) {
  if (key.empty() || is_own(key)) return {};
  if (attachments.size() >= max_count)
    return Error(Errc::too_large,
                 "more than " + std::to_string(max_count) + " attachments in the metadata (limits.max_header_count)",
                 Delivery::not_run, Advice::never);
  attachments.set(key, value);
  return {};
}

}  // namespace

bool MetadataReader::next(std::string_view& key, std::string_view& value) noexcept {
  const std::size_t end_of_key = rest_.find('\n');
  if (end_of_key == std::string_view::npos) return false;
  key = rest_.substr(0, end_of_key);
  rest_.remove_prefix(end_of_key + 1);
  const std::size_t end_of_value = std::min(rest_.find('\n'), rest_.size());
  value = rest_.substr(0, end_of_value);
  rest_.remove_prefix(std::min(end_of_value + 1, rest_.size()));
  return true;
}

Result<void> read_request(std::string_view bytes, std::size_t max_count, RequestMetadata& metadata) {
  std::string_view java_group;
  std::string_view java_version;
  std::string_view key;
  std::string_view value;
  for (MetadataReader pairs(bytes); pairs.next(key, value);) {
    if (key == key::path) {
      metadata.path = value;
    } else if (key == key::method) {
      metadata.method = value;
    } else if (key == key::group) {
      metadata.group = value;
    } else if (key == key::version) {
      metadata.version = value;
    } else if (key == key::timeout) {
      metadata.timeout_ms = milliseconds(value);
    } else {
      if (key == key::java_group) java_group = value;
      if (key == key::java_version) java_version = value;
      if (key == key::framework) metadata.framework = value == "y";
      if (auto attached = attach(metadata.attachments, key, value, max_count); !attached.ok()) return attached;
    }
  }
  if (metadata.group.empty()) metadata.group = java_group;
  if (metadata.version.empty()) metadata.version = java_version;
  return {};
}

Result<void> read_response(std::string_view bytes, std::size_t max_count, ResponseMetadata& metadata) {
  std::string_view key;
  std::string_view value;
  for (MetadataReader pairs(bytes); pairs.next(key, value);) {
    if (key == key::process_time) {
      metadata.process_ms = milliseconds(value);
    } else if (key == key::exception) {
      metadata.exception = value;
    } else if (key == key::error_detail) {
      metadata.error_detail = value;
    } else if (auto attached = attach(metadata.attachments, key, value, max_count); !attached.ok()) {
      return attached;
    }
  }
  return {};
}

void put(std::string& out, std::string_view key, std::string_view value) {
  put_last(out, key, value);
  out += '\n';
}

void put_last(std::string& out, std::string_view key, std::string_view value) {
  out += key;
  out += '\n';
  out += value;
}

Result<void> check_attachment(std::string_view name, std::string_view value) {
  const auto refused = [&](const char* why) {
    return Error(Errc::invalid_argument,
                 "protocol motan2: header \"" + std::string(name.substr(0, 64)) + "\" " + why, Delivery::not_run,
                 Advice::never);
  };
  if (name.empty()) return refused("has an empty name, which metadata cannot carry");
  if (name.find('\n') != std::string_view::npos) return refused("has a newline in its name, which would end it");
  if (value.find('\n') != std::string_view::npos)
    return refused("has a newline in its value, which would end it; metadata has no escape: encode the value, "
                   "for example with base64");
  if (is_own(name))
    return refused("is written by the protocol itself; choose another name");
  return {};
}

}  // namespace tenon::motan2
