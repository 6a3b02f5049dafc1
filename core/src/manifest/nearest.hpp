#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/core_export.hpp"

namespace tenon {

/// The candidate that `wanted` is most likely a misspelling of (few edits for its length); empty: none is near.
TENON_CORE std::string_view nearest(std::string_view wanted, std::span<const std::string_view> candidates);
/// `, did you mean "serializer"?`, or nothing.
TENON_CORE std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> candidates);
/// "a, b, c", sorted; "none" when empty.
TENON_CORE std::string listed(std::vector<std::string_view> names);

}  // namespace tenon
