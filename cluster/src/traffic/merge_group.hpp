#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/result.hpp"

namespace tenon::cluster::traffic {

/// A group that takes part in serving, and its share: "g" or "g:3".
struct MergeGroup {
  static constexpr std::uint32_t max_weight = 100;
  static constexpr std::size_t max_name = 255;  ///< bytes

  std::string group;
  std::optional<std::uint32_t> weight;  ///< 0 to 100; 0: takes no traffic; nothing: none was written

  /// White space around name and weight is ignored. Fails with: malformed.
  static Result<MergeGroup> parse(std::string_view text);
  bool operator==(const MergeGroup&) const = default;
};

}  // namespace tenon::cluster::traffic
