#pragma once
#include <string_view>
#include <vector>

#include "tenon/result.hpp"
#include "traffic/host.hpp"

namespace tenon::cluster::traffic {

/// "FROM to TO": clients at FROM call only instances at TO. `to` is a word of its own, with white space on both sides.
/// Threads: const and concurrent.
struct RouteRule {
  Hosts from;
  Hosts to;

  /// Fails with: malformed.
  static Result<RouteRule> parse(std::string_view text);
  /// Is the client meant? One host may have several addresses: one that matches is enough; with `!` none may match.
  bool concerns(const std::vector<Place>& client) const noexcept;
};

}  // namespace tenon::cluster::traffic
