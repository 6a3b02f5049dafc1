#pragma once
#include "tenon/call.hpp"

namespace tenon::cluster {

/// What a caller gets in place of an answer that there is none of: the method's output as it is by default (in the
/// caller's reply object, if the request names one), nothing for one_way, a stream that ends at once.
Response empty_answer(Request& request);

/// The caller's own doing, which no strategy hides from him: invalid_argument, cancelled, would_deadlock, config.
bool is_callers_own(const Error& error) noexcept;

}  // namespace tenon::cluster
