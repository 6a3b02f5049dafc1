#pragma once
#include <string_view>

#include "tenon/options.hpp"

namespace tenon::cli {

/// Runs the services of loaded plugins until a signal comes; prints "listening on TRANSPORT ADDRESS" for each port once
/// it is ready. `who` is the subcommand, for messages. Blocking: until the end. Returns the exit code.
int serve_until_signal(std::string_view who, AppOptions options);

}  // namespace tenon::cli
