#include "service_url.hpp"

#include <algorithm>
#include <charconv>

namespace tenon::zk {

namespace {

constexpr std::size_t most_parameters = 1024;

bool safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == ':' || c == ',' || c == '/' || c == '-';
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool read_port(std::string_view text, std::uint16_t& port) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

Error malformed(std::string_view text, std::string_view what) {
  return Error(Errc::malformed, "'" + std::string(text.substr(0, 200)) + "' is no service URL: " + std::string(what));
}

}  // namespace

std::string percent_encode(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (safe(c)) {
      out.push_back(c);
    } else {
      const auto value = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(digits[value >> 4]);
      out.push_back(digits[value & 15]);
    }
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%' && text.size() - at > 2 && hex(text[at + 1]) >= 0 && hex(text[at + 2]) >= 0) {
      out.push_back(static_cast<char>(hex(text[at + 1]) << 4 | hex(text[at + 2])));
      at += 2;
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

bool split_host_port(std::string_view address, std::string& host, std::uint16_t& port, bool zero) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view name = address.substr(0, colon);
  // An IPv6 address needs its brackets, else its last part would be taken for the port.
  const bool bracketed = name.size() > 2 && name.front() == '[' && name.back() == ']';
  if (!bracketed && name.find_first_of(":[]") != std::string_view::npos) return false;
  std::uint16_t number = 0;
  if (!read_port(address.substr(colon + 1), number) || (number == 0 && !zero)) return false;
  host = name;
  port = number;
  return true;
}

const std::string* ServiceUrl::find(std::string_view key) const noexcept {
  for (const auto& [name, value] : parameters)
    if (name == key) return &value;
  return nullptr;
}

void ServiceUrl::set(std::string_view key, std::string value) {
  const auto named = [key](const auto& parameter) { return parameter.first == key; };
  const auto first = std::find_if(parameters.begin(), parameters.end(), named);
  if (first == parameters.end()) {
    parameters.emplace_back(key, std::move(value));
    return;
  }
  first->second = std::move(value);
  parameters.erase(std::remove_if(first + 1, parameters.end(), named), parameters.end());
}

Result<ServiceUrl> parse_service_url(std::string_view text) {
  const std::string_view whole = text;
  ServiceUrl url;
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return malformed(whole, "it has no scheme");
  url.scheme = text.substr(0, scheme);
  text.remove_prefix(scheme + 3);

  const std::size_t question = text.find('?');
  std::string_view place = text.substr(0, question);
  const std::size_t slash = place.find('/');
  if (slash != std::string_view::npos) url.path = percent_decode(place.substr(slash + 1));
  place = place.substr(0, slash);
  const std::size_t colon = place.rfind(':');
  const bool has_port = colon != std::string_view::npos && place.find(']', colon) == std::string_view::npos;
  url.host = has_port ? place.substr(0, colon) : place;
  if (has_port && !read_port(place.substr(colon + 1), url.port)) return malformed(whole, "its port is no number");

  if (question == std::string_view::npos) return url;
  std::string_view query = text.substr(question + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    if (url.parameters.size() == most_parameters)
      return Error(Errc::too_large, "a service URL with more than 1024 parameters");
    const std::size_t equals = pair.find('=');
    url.parameters.emplace_back(percent_decode(pair.substr(0, equals)), equals == std::string_view::npos
                                                                            ? std::string()
                                                                            : percent_decode(pair.substr(equals + 1)));
  }
  return url;
}

std::string to_string(const ServiceUrl& url) {
  std::string text = url.scheme + "://" + url.host + ":" + std::to_string(url.port) + "/" + percent_encode(url.path);
  char separator = '?';
  for (const auto& [key, value] : url.parameters) {
    text += separator;
    text += percent_encode(key) + "=" + percent_encode(value);
    separator = '&';
  }
  return text;
}

}  // namespace tenon::zk
