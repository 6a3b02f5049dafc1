#pragma once
#include <cstdint>

#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// Whether a member would be called for a request, as far as routing decides.
enum class Serving : std::uint8_t {
  no,
  fallback,  ///< only when nobody of those before can take calls, or all of them have been tried
  yes,       ///< also when some share of such calls goes there
};

/// A table that knows more than in which of its subsets somebody is.
class ExplainedTable : public Router::Table {
 public:
  /// Counts nothing. `member` need not be one that the table was compiled over: no.
  virtual Serving serving(const Request& request, const Endpoint& member) const = 0;
};

/// Of any table: one that is no ExplainedTable may choose each of its subsets for every request.
Serving serving(const Router::Table& table, const Request& request, const Endpoint& member);

/// Is it among those the table may choose?
bool has_member(const Router::Table& table, const Endpoint& member) noexcept;

}  // namespace tenon::cluster
