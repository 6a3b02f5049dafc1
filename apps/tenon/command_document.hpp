#pragma once
// A traffic command document as people look at it. What it does is the router's business: see traffic_preview.hpp.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/result.hpp"

namespace tenon::cli {

/// One entry of clientCommandList, as far as it is what it should be.
struct CommandEntry {
  std::size_t position = 0;  ///< in the document, from 1
  std::optional<std::int64_t> index;
  std::string pattern;
  std::string remark;
  std::vector<std::string> merge_groups;
  std::vector<std::string> route_rules;
};

/// The entries in the order in which clients look at them: by index, none before all, equal ones as they were written.
/// A text without a list has none. Fails with: malformed (no JSON).
Result<std::vector<CommandEntry>> read_entries(std::string_view text);

/// Groups that an entry gives weight 0.
std::vector<std::string> drained_groups(const std::vector<CommandEntry>& entries);

/// JSON with a line for each member; lists of texts and numbers stay on one. Fails with: malformed.
Result<std::string> pretty_json(std::string_view text);

/// `text` as a string of JSON, whatever bytes it has.
std::string json_text(std::string_view text);

/// The document that the command line means: "-" is standard input, what begins with '{' is the document itself,
/// anything else is a file. White space around it is taken away.
/// Blocking: reads it. Fails with: config (a file that cannot be read, more than 1 MiB, nothing in it).
Result<std::string> read_source(const std::string& source);

}  // namespace tenon::cli
