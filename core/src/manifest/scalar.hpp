#pragma once
// Numbers, times and sizes as people write them in a manifest or on a command line.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenon/core_export.hpp"

namespace tenon::manifest {

/// What is wrong with a text, as the end of a sentence that starts with "expected …"; empty: nothing.
using Wrong = std::string;

/// Decimal, an optional '-'. No '+', no leading zeros (010 is octal elsewhere), no 0x, no '_'.
TENON_CORE Wrong parse_integer(std::string_view text, std::int64_t& value);
TENON_CORE Wrong parse_unsigned(std::string_view text, std::uint64_t& value);
TENON_CORE Wrong parse_floating(std::string_view text, double& value);
/// "250ms", "1.5s", "2h"; units ns, us, ms, s, m, h. A bare 0 needs no unit. Not negative.
TENON_CORE Wrong parse_duration(std::string_view text, std::chrono::nanoseconds& value);
/// "512", "512B", "64KiB", "4MiB", "1GiB". Not negative; units are powers of 1024 and say so.
TENON_CORE Wrong parse_size(std::string_view text, std::uint64_t& value);

/// True if a plain scalar reads as nothing ("", "~", "null") in YAML.
TENON_CORE bool is_null_text(std::string_view text) noexcept;

}  // namespace tenon::manifest
