#pragma once
#include <string>
#include <string_view>

#include "tenon/buffer.hpp"
#include "tenon/protocol.hpp"
#include "tenon/result.hpp"
#include "wire.hpp"

namespace tenon::wire {

/// Appends the fields of an error as error and goaway frames carry them: code, delivery and advice, delay, domain,
/// foreign code, text. Text and domain are cut to what a frame may carry. Throws std::bad_alloc.
void put_failure(const Error& error, OutBuffer& out);

/// Reads them. Codes that this version does not know become `internal` and stay visible as foreign code of the domain
/// "tenon". On ok the cursor stands behind the text. Throws std::bad_alloc.
Scan get_failure(Cursor& cursor, Error& error);

/// What send() returns when it appended nothing.
Error refused(Errc code, std::string text);

/// The method a request goes to, or a response comes from, for such an error.
std::string method_text(const Target* target);

}  // namespace tenon::wire
