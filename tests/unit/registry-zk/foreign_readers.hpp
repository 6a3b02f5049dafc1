#pragma once
// How Motan's clients read a node's text: each in its own way, with its own lacks.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::zk::foreign {

struct Url {
  std::string protocol;
  std::string host;
  int port = 0;
  std::string path;
  std::map<std::string, std::string> parameters;
  std::string parameter(const std::string& name, const std::string& otherwise = {}) const {
    const auto found = parameters.find(name);
    return found == parameters.end() || found->second.empty() ? otherwise : found->second;
  }
};

inline std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0, end; at != text.npos; at = end == text.npos ? end : end + separator.size()) {
    end = text.find(separator, at);
    parts.emplace_back(text.substr(at, end == text.npos ? end : end - at));
  }
  return parts;
}
inline std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// As Motan in Go: needs '?' and "://", splits at every '=', drops a pair that then has not two parts, decodes nothing.
/// Nothing: it panics, and has no such node.
inline std::optional<Url> read_as_go(const std::string& text) {
  const auto halves = split(text, "?");
  if (halves.size() < 2) return std::nullopt;
  const auto scheme = split(halves[0], "://");
  if (scheme.size() < 2) return std::nullopt;
  const auto place = split(scheme[1], "/");
  if (place.size() < 2) return std::nullopt;
  const auto host_port = split(place[0], ":");
  if (host_port.size() < 2) return std::nullopt;
  Url url{scheme[0], host_port[0], number(host_port[1]).value_or(0), place[1], {}};
  for (const std::string& pair : split(halves[1], "&")) {
    const auto parts = split(pair, "=");
    if (parts.size() == 2) url.parameters[parts[0]] = parts[1];
  }
  return url;
}

/// As Motan in Java: pairs are split at their first '=' and decoded; one without stands for itself; a port that is no
/// number is an exception. Nothing: there was one.
inline std::optional<Url> read_as_java(std::string text) {
  const auto decode = [](const std::string& raw) {
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '%' && i + 2 < raw.size()) {
        out.push_back(static_cast<char>(std::stoi(raw.substr(i + 1, 2), nullptr, 16)));
        i += 2;
      } else {
        out.push_back(raw[i] == '+' ? ' ' : raw[i]);
      }
    }
    return out;
  };
  Url url;
  if (const std::size_t question = text.find('?'); question != text.npos) {
    for (const std::string& pair : split(text.substr(question + 1), "&")) {
      if (pair.empty()) continue;
      const std::size_t equals = pair.find('=');
      url.parameters[pair.substr(0, equals)] = equals == pair.npos ? pair : decode(pair.substr(equals + 1));
    }
    text.resize(question);
  }
  const std::size_t scheme = text.find("://");
  if (scheme == text.npos || scheme == 0) return std::nullopt;
  url.protocol = text.substr(0, scheme);
  text.erase(0, scheme + 3);
  if (const std::size_t slash = text.find('/'); slash != text.npos) {
    url.path = text.substr(slash + 1);
    text.resize(slash);
  }
  if (const std::size_t colon = text.find(':'); colon != text.npos) {
    const auto port = number(text.substr(colon + 1));
    if (!port) return std::nullopt;
    url.port = *port;
    text.resize(colon);
  }
  url.host = text;
  return url;
}

/// Whether a client of Motan in Java that wants `path` in `version` (empty: the default) over motan2 takes this node.
inline bool java_can_be_served(const Url& node, const std::string& path, const std::string& version) {
  return node.path == path && node.protocol == "motan2" && node.parameter("nodeType") == "service" &&
         node.parameter("version", "1.0") == (version.empty() ? "1.0" : version);
}

/// The same for one of Motan in Go, which looks at neither nodeType nor group.
inline bool go_can_be_served(const Url& node, const std::string& path, const std::string& version) {
  const auto equal = [&](const std::string& absent) {
    return node.parameter("version", absent) == (version.empty() ? absent : version);
  };
  return node.path == path && node.protocol == "motan2" && (equal("0.1") || equal("1.0"));
}

/// Whether it looks as Motan in Go writes it: "scheme://host:port/path?group=…", the other parameters by name (encoded
/// ones stand where their meaning does), nothing but printing characters, one '=' in each.
inline bool has_gos_shape(const std::string& text) {
  const auto url = read_as_go(text);
  if (!url || url->host.empty() || url->path.empty()) return false;
  const auto pairs = split(text.substr(text.find('?') + 1), "&");
  std::vector<std::string> names;
  for (const std::string& pair : pairs) {
    if (std::count(pair.begin(), pair.end(), '=') != 1) return false;
    names.push_back(pair.substr(0, pair.find('=')));
    for (const char c : pair)
      if (c <= ' ' || c >= 127 || c == '?' || c == '#' || c == '"') return false;
  }
  if (names.front() != "group") return false;
  std::erase_if(names, [](const std::string& name) { return name.find('%') != name.npos || name == "group"; });
  return std::is_sorted(names.begin(), names.end());
}

}  // namespace tenon::zk::foreign
