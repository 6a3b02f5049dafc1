#include "traffic/host.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "traffic/words.hpp"

namespace tenon::cluster::traffic {

namespace {

constexpr int v4_bits = 96;  // what comes before an IPv4 address in IPv6

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool begins_with(std::string_view text, std::string_view lower_case) noexcept {
  return text.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), text.begin(), [](char a, char b) { return a == lower(b); });
}
bool only(std::string_view text, bool (*allowed)(char)) noexcept {
  return std::all_of(text.begin(), text.end(), allowed);
}
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_number_or_dot(char c) noexcept { return is_digit(c) || c == '.'; }
bool is_host(char c) noexcept {
  return is_number_or_dot(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_';
}

Error malformed(std::string why) { return Error(Errc::malformed, std::move(why), Delivery::not_run); }

bool read_number(std::string_view digits, int limit, int& number) noexcept {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number >= 0 && number <= limit &&
         is_digit(digits.front());
}

}  // namespace

std::optional<Ip> Ip::parse(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.empty() || text.size() >= terminated.size() || text.find('\0') != text.npos) return std::nullopt;
  std::memcpy(terminated.data(), text.data(), text.size());
  Ip ip;
  std::array<std::uint8_t, 4> v4{};
  if (inet_pton(AF_INET, terminated.data(), v4.data()) == 1) {
    ip.bytes[10] = ip.bytes[11] = 0xff;
    std::copy(v4.begin(), v4.end(), ip.bytes.begin() + 12);
  } else if (inet_pton(AF_INET6, terminated.data(), ip.bytes.data()) != 1) {
    return std::nullopt;
  }
  ip.is_v4 = std::all_of(ip.bytes.begin(), ip.bytes.begin() + 10, [](std::uint8_t b) { return b == 0; }) &&
             ip.bytes[10] == 0xff && ip.bytes[11] == 0xff;
  return ip;
}

Place Place::of(std::string_view address) noexcept {
  Place place;
  place.host = address;
  if (address.starts_with('[')) {
    const std::size_t end = address.find(']');
    place.host = address.substr(1, end == address.npos ? end : end - 1);
    if (end != address.npos && address.substr(end + 1).starts_with(':')) place.port = address.substr(end + 2);
  } else if (const std::size_t colon = address.find(':'); colon != address.npos && colon == address.rfind(':')) {
    place.host = address.substr(0, colon);
    place.port = address.substr(colon + 1);
  }
  place.ip = Ip::parse(place.host);
  return place;
}

Result<Hosts> Hosts::parse(std::string_view text, Ports ports) {
  if (text.size() > max_length) return malformed("a host has at most " + std::to_string(max_length) + " bytes");
  Hosts hosts;
  std::string_view rest = trimmed(text);
  if (rest.starts_with('!')) {
    hosts.negated_ = true;
    rest = trimmed(rest.substr(1));
  }
  if (rest.empty()) return malformed("one side names no host");
  std::string_view host = rest;
  std::optional<std::string_view> port;
  const bool bracketed = rest.starts_with('[');
  if (bracketed) {
    const std::size_t end = rest.find(']');
    if (end == rest.npos) return malformed(quoted(rest) + " has no ']'");
    host = rest.substr(1, end - 1);
    const std::string_view behind = rest.substr(end + 1);
    if (behind.starts_with(':'))
      port = behind.substr(1);
    else if (!behind.empty())
      return malformed(quoted(rest) + " goes on behind its ']'; ':' and a port may follow");
  } else if (const std::size_t colon = rest.find(':'); colon != rest.npos && colon == rest.rfind(':')) {
    host = rest.substr(0, colon);
    port = rest.substr(colon + 1);
  }
  if (port) {
    if (ports == Ports::refused) return malformed(quoted(rest) + " has a port, but clients have none");
    int number = 0;
    if (port->empty() || !read_number(*port, 65535, number)) return malformed(quoted(rest) + " has a bad port");
    hosts.port_ = std::to_string(number);
  }
  if (auto read = hosts.read_host(host, bracketed); !read.ok()) return std::move(read).error();
  return hosts;
}

Result<void> Hosts::read_host(std::string_view host, bool bracketed) {
  if (host == "*" && !bracketed) return {};
  if (const std::size_t slash = host.find('/'); slash != host.npos) {
    const std::optional<Ip> ip = Ip::parse(host.substr(0, slash));
    if (!ip) return malformed(quoted(host) + " is no network: what stands before '/' is no address");
    const bool v4 = host.find(':') == host.npos;
    const std::string_view digits = host.substr(slash + 1);
    int bits = 0;
    if (digits.empty() || !read_number(digits, v4 ? 32 : 128, bits))
      return malformed(quoted(host) + " is no network: behind '/' stand 0 to " + (v4 ? "32" : "128") + " bits");
    kind_ = Kind::network;
    network_ = *ip;
    bits_ = v4 ? v4_bits + bits : bits;
    return {};
  }
  if (const std::optional<Ip> ip = Ip::parse(host)) {
    kind_ = Kind::network;
    network_ = *ip;
    bits_ = 128;
    return {};
  }
  if (bracketed || host.find(':') != host.npos)
    return malformed(quoted(host) + " is no IPv6 address and no network such as fd00::/8");
  const bool prefix = host.ends_with('*');
  if (prefix) host.remove_suffix(1);
  if (!only(host, is_host) || host.empty())
    return malformed(quoted(host) + " is no host: letters, digits, '.', '-' and '_', and '*' only at the end");
  if (!prefix && only(host, is_number_or_dot))
    return malformed(quoted(host) + " is no address; a part of one ends with '*'");
  kind_ = prefix ? Kind::prefix : Kind::name;
  text_.resize(host.size());
  std::transform(host.begin(), host.end(), text_.begin(), lower);
  return {};
}

bool Hosts::matches(const Place& place) const noexcept {
  if (!port_.empty() && port_ != place.port) return false;
  switch (kind_) {
    case Kind::any: return true;
    case Kind::name: return place.host.size() == text_.size() && begins_with(place.host, text_);
    case Kind::prefix: return begins_with(place.host, text_);
    case Kind::network: break;
  }
  if (!place.ip) return false;
  if (place.ip->is_v4 && bits_ < v4_bits) return false;  // ::/0 is about IPv6
  const auto whole = static_cast<std::size_t>(bits_ / 8);
  if (!std::equal(network_.bytes.begin(), network_.bytes.begin() + whole, place.ip->bytes.begin())) return false;
  const int left = bits_ % 8;
  return left == 0 || (network_.bytes[whole] ^ place.ip->bytes[whole]) >> (8 - left) == 0;
}

}  // namespace tenon::cluster::traffic
