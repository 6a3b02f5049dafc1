#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/call.hpp"
#include "tenon/log.hpp"

namespace tenon::cluster {

/// Where balancers that send equal keys to the same member find the key of a call.
/// Threads: const and concurrent.
class HashKey {
 public:
  /// At most one of `header` (its name) and `field` (a path in the request message, "user.id") is given; none:
  /// Request::hash_key, of which 0 is no key. `balancer` is said in messages; `log` outlives this.
  /// Fails with: config.
  static Result<std::unique_ptr<const HashKey>> make(std::string balancer, std::string header, const std::string& field,
                                                     Log& log);

  /// The call's key; nothing: it has none. Whole numbers, durations, booleans and enumerations are their own key
  /// (negative ones as two's complement), texts and bytes are hashed.
  /// A field costs a walk through the message up to it. It is looked for in values only: a message that is still
  /// encoded (forwarded calls) has no key. That, and a field that cannot be in such a message, is logged once.
  std::optional<std::uint64_t> of(const Request& request) const noexcept;

 private:
  HashKey(std::string balancer, std::string header, std::vector<std::string> path, Log& log);
  std::optional<std::uint64_t> of_field(const Request& request) const;
  void complain(std::string_view about, const std::string& text) const;

  const std::string balancer_;
  const std::string header_;
  const std::vector<std::string> path_;
  Log& log_;
  mutable std::mutex mutex_;
  mutable std::set<std::string, std::less<>> complained_;  // about these message types
};

/// FNV-1a (Fowler, Noll, Vo), mixed. The same everywhere and for ever.
std::uint64_t hash_text(std::string_view text) noexcept;

}  // namespace tenon::cluster
