#include "balancer/hash_key.hpp"

#include "balancer/key_finder.hpp"
#include "balancer/random_source.hpp"

namespace tenon::cluster {

namespace {

Error refuse(const std::string& balancer, const std::string& why) {
  return Error(Errc::config, balancer + ": " + why, Delivery::not_run);
}

}  // namespace

std::uint64_t hash_text(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return mix(hash);
}

Result<std::unique_ptr<const HashKey>> HashKey::make(std::string balancer, std::string header, const std::string& field,
                                                     Log& log) {
  if (!header.empty() && !field.empty())
    return refuse(balancer, "a key comes from a header or from a field of the request, not from both");
  std::vector<std::string> path;
  for (std::size_t at = 0; !field.empty() && at <= field.size();) {
    const std::size_t dot = std::min(field.find('.', at), field.size());
    path.push_back(field.substr(at, dot - at));
    if (path.back().empty())
      return refuse(balancer, "field: \"" + field + "\" is no path; names with dots between them are, as in user.id");
    at = dot + 1;
  }
  return std::unique_ptr<const HashKey>(new HashKey(std::move(balancer), std::move(header), std::move(path), log));
}

HashKey::HashKey(std::string balancer, std::string header, std::vector<std::string> path, Log& log)
    : balancer_(std::move(balancer)), header_(std::move(header)), path_(std::move(path)), log_(log) {}

std::optional<std::uint64_t> HashKey::of(const Request& request) const noexcept {
  if (!path_.empty()) return of_field(request);
  if (header_.empty()) return request.hash_key != 0 ? std::optional(request.hash_key) : std::nullopt;
  const std::string* text = request.headers.find(header_);
  return text ? std::optional(hash_text(*text)) : std::nullopt;
}

std::optional<std::uint64_t> HashKey::of_field(const Request& request) const {
  if (!request.payload.has_value()) {
    if (request.payload.is_encoded()) complain("", "a call has its request only encoded, as forwarded ones have");
    return std::nullopt;
  }
  const MessageType& type = *request.payload.type();
  KeyFinder finder(path_);
  type.write(request.payload.value(), finder);
  if (finder.key()) return finder.key();
  if (const std::string why = KeyFinder::why_never(type, path_); !why.empty()) complain(type.name(), why);
  return std::nullopt;
}

void HashKey::complain(std::string_view about, const std::string& text) const {
  {
    const std::lock_guard lock(mutex_);
    if (!complained_.emplace(about).second) return;
  }
  std::string path;
  for (const std::string& name : path_) path += (path.empty() ? "" : ".") + name;
  log_.error("hash-key", balancer_ + ": field " + path + ": " + text +
                             "; such calls have no key and are spread as weighted-random does it");
}

}  // namespace tenon::cluster
