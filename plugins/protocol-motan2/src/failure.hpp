#pragma once
// Errors: status 1, an empty body and a JSON object {"errcode", "errmsg", "errtype"} in the metadata.

#include <string>
#include <string_view>

#include "metadata.hpp"
#include "tenon/result.hpp"

namespace tenon::motan2 {

/// Error::domain() of what a Motan peer answered; Error::foreign_code() is its errcode. An errtype other than the
/// code's usual one is kept in the error's header "errtype".
inline constexpr std::string_view error_domain = "motan";

/// Appends the metadata of an error reply, without M_pt. `framework`: the call was for a service of the framework
/// itself; `wanted`: "group/path/version" when that service may be what was not found. Attachments that cannot be sent
/// and text beyond 16 KiB are left out; text that is not UTF-8 becomes ASCII. Where the code alone would be taken for
/// another Error, "tenon.error" tells it to Tenon peers.
void put_failure(std::string& metadata, const Error& error, bool framework, std::string_view wanted = {});

/// The error that a reply's metadata tell of; moves the attachments to it.
Error get_failure(ResponseMetadata& metadata);

}  // namespace tenon::motan2
