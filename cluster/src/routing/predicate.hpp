#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routing/rule.hpp"
#include "tenon/result.hpp"
#include "traffic/host.hpp"

namespace tenon::cluster::routing {

/// What a condition can be about. The first ones differ from call to call.
enum class Attribute : std::uint8_t {
  method,
  header,
  hash_key,
  percent,
  interface,  // from here on the same for all calls of one reference
  group,
  version,
  client,
  application,
  address,  // from here on of an instance; `group` and, as a name, `host` too
  host,
  id,
  metadata,
  weight,
};
constexpr bool is_of_each_call(Attribute attribute) noexcept { return attribute <= Attribute::percent; }

/// Whom a condition asks.
enum class Subject : std::uint8_t { call, instance };

/// An attribute, with the NAME in header.NAME and metadata.NAME.
struct AttributeName {
  Attribute attribute = Attribute::method;
  std::string name;
  /// Fails with: invalid_argument (saying what there is).
  static Result<AttributeName> parse(std::string_view text, Subject subject);
};

/// A condition that was found good.
/// Threads: const and concurrent; asking allocates nothing.
class Predicate {
 public:
  static constexpr std::size_t max_pattern = 128;  ///< bytes
  /// Fails with: invalid_argument, the text beginning with the field that is wrong.
  static Result<Predicate> parse(const Condition& condition, Subject subject);

  Attribute attribute() const noexcept { return what_.attribute; }
  const std::string& name() const noexcept { return what_.name; }
  /// With same_as: what of the call the value must be equal to; holds() does not look at that.
  const std::optional<AttributeName>& same_as() const noexcept { return same_as_; }

  bool holds(std::optional<std::string_view> value) const noexcept;
  bool holds(std::uint64_t value) const noexcept;
  /// Of a host by its address. In `in` and `not_in` networks and address prefixes may stand.
  bool holds(const traffic::Place& place) const noexcept;
  /// Of a host with several addresses: one of them is enough, and none may be in `not_in`.
  bool holds(const std::vector<traffic::Place>& places) const noexcept;
  /// percent: [first, second), in tenths.
  std::pair<int, int> tenths() const noexcept { return tenths_; }
  bool holds_at(int tenths) const noexcept { return tenths_.first <= tenths && tenths < tenths_.second; }

 private:
  Result<void> read_hosts();
  Result<void> read_percent();
  bool listed(const std::vector<std::string>& texts, std::string_view value) const noexcept;
  bool needs_value() const noexcept;
  bool positive(std::string_view value) const noexcept;

  AttributeName what_;
  Condition wanted_;  // `equals` has become the only one of `in`, lists are sorted
  std::optional<AttributeName> same_as_;
  std::vector<traffic::Hosts> hosts_in_;
  std::vector<traffic::Hosts> hosts_not_in_;
  std::pair<int, int> tenths_{0, 1000};
};

}  // namespace tenon::cluster::routing
