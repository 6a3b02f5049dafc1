#pragma once
#include <boost/json/value.hpp>
#include <string_view>

#include "tenon/result.hpp"

namespace tenon::json {

/// Parses one JSON document strictly: UTF-8, paired surrogates, no duplicate keys, at most 64 levels, nothing after
/// it. Integers that fit 64 bits stay exact; other numbers are rounded correctly.
/// Fails with: malformed (the text says what and at which byte).
Result<boost::json::value> parse(std::string_view text);

}  // namespace tenon::json
