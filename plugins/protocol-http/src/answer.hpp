#pragma once
// What answers look like: status, head, errors as JSON.

#include <string>
#include <string_view>

#include "request.hpp"
#include "tenon/result.hpp"

namespace tenon::http {

inline constexpr std::string_view json_type = "application/json";

/// The status of an error reply.
int status_of(Errc code) noexcept;

/// {"error":{"code","message","delivery"}} and, where the error has them, "domain", "foreign_code", "retry_after_ms".
/// A text beyond 16 KiB is cut; one that is not UTF-8 becomes ASCII.
std::string error_text(const Error& error);

/// May a service send this header?
/// Fails with: invalid_argument (no field of HTTP, or one that the protocol itself sends).
Result<void> check_field(std::string_view name, std::string_view value);

void put_field(std::string& head, std::string_view name, std::string_view value);

/// Appends the headers of an error that can be sent, and what a status asks for: Retry-After, WWW-Authenticate.
/// `limits` bound their number and size.
void put_error_fields(std::string& head, int status, const Error& error, const Limits& limits);

/// Begins a head: the status line.
void put_status(std::string& head, int status);

/// Ends it: the body's type (empty: none) and size, what becomes of the connection, the empty line. No answer of
/// status 204 has a body.
void end_head(std::string& head, int status, std::string_view type, std::size_t body, const Call& call);

}  // namespace tenon::http
