#include <algorithm>

#include "request.hpp"
#include "tenon/utf8.hpp"
#include "text.hpp"

namespace tenon::http {
namespace {

int hex(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// False: a "%" without two hexadecimal digits, or what comes out is no text.
bool decode(std::string_view text, std::string& decoded) {
  decoded.clear();
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    if (text.size() - at < 3 || hex(text[at + 1]) < 0 || hex(text[at + 2]) < 0) return false;
    decoded += static_cast<char>(hex(text[at + 1]) * 16 + hex(text[at + 2]));
    at += 2;
  }
  return is_utf8(decoded) &&
         std::all_of(decoded.begin(), decoded.end(), [](char c) { return is_field_text(c) && c != '\t'; });
}

Refusal bad(std::string text) { return refusal(400, Errc::malformed, std::move(text)); }

// "http://host:80/path" is what proxies are sent; every server has to read it.
std::string_view without_authority(std::string_view target) noexcept {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_word(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
    return target;
  }
  return target;
}

Refusal read_query(std::string_view query, Request& request) {
  bool seen[2] = {};
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string name;
    if (!decode(pair.substr(0, equals), name))
      return bad("the query of the request's path is not percent-encoded text");
    const int which = name == "group" ? 0 : name == "version" ? 1 : -1;
    if (which < 0) continue;
    if (std::exchange(seen[which], true)) return bad("the query of the request's path names its " + name + " twice");
    std::string& value = which == 0 ? request.group : request.version;
    if (!decode(pair.substr(std::min(equals + 1, pair.size())), value))
      return bad("the " + name + " in the query of the request's path is not percent-encoded text");
  }
  return {};
}

}  // namespace

Refusal read_target(std::string_view target, Request& request) {
  for (const char c : target)
    if (c <= ' ' || c == '\x7f' || c == '#' || static_cast<unsigned char>(c) >= 0x80)
      return bad("the request's path has a character that must be percent-encoded");
  const std::string_view all = without_authority(target);
  const std::size_t question = std::min(all.find('?'), all.size());
  const std::string_view path = all.substr(0, question);
  if (question < all.size())
    if (Refusal refused = read_query(all.substr(question + 1), request)) return refused;

  const std::size_t slash = path.find('/', 1);
  if (path.empty() || path[0] != '/' || slash == std::string_view::npos || slash == 1 || slash + 1 == path.size() ||
      path.find('/', slash + 1) != std::string_view::npos)
    return refusal(
        404, Errc::not_found,
        "a call's path is /INTERFACE/METHOD, like /demo.Greeter/SayHello, not " + std::string(path.substr(0, 200)));
  if (!decode(path.substr(1, slash - 1), request.interface) || !decode(path.substr(slash + 1), request.method))
    return bad("the request's path is not percent-encoded text");
  return {};
}

}  // namespace tenon::http
