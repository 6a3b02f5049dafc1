#pragma once
// Traffic commands and what they do, for people and for programs.

#include <string>
#include <vector>

#include "command_document.hpp"
#include "traffic_preview.hpp"

namespace tenon::cli {

/// Shares in tenths of a percent that sum to 1000, unless nobody has one.
std::vector<int> tenths(const std::vector<double>& shares);

/// The entries in order, as a table; empty: there are none.
std::string entries_text(const std::vector<CommandEntry>& entries);

/// Whether there is a second column.
enum class Columns { now, now_and_then };
/// One service and the clients that see the same: a line for each instance.
std::string preview_text(const Preview& preview, Columns columns);
std::string preview_json(const Preview& preview, Columns columns);

/// "client-test (192.0.2.2), other (10.0.0.3)", each once, at most ten.
std::string names_of(const std::vector<Subscriber>& subscribers);

}  // namespace tenon::cli
