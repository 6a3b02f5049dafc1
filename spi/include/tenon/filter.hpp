#pragma once
#include <string_view>

#include "tenon/call.hpp"

namespace tenon {

/// Sees calls pass, on the client around the call (`filters`) or around each attempt (`attempt_filters`), on the
/// server before the payload is decoded. One function serves before, after, instead and many times:
///
///   Task<Result<Response>> apply(Request& request, Invoker& next) override {
///     if (!allowed(request)) return ready<Result<Response>>(Error(...));   // instead
///     return next.call(request);                                            // pass on: costs a few ns
///   }
///
/// A coroutine that awaits next.call(request) sees the response too.
/// Threads: called on the call's executor, concurrently from several executors when there are several; must resume
/// there. Blocking: never. Ownership: request and next live until the returned task has ended.
class TENON_SPI Filter {
 public:
  static constexpr std::string_view kind = "filter";
  virtual ~Filter();
  virtual Task<Result<Response>> apply(Request& request, Invoker& next) = 0;
};

}  // namespace tenon
