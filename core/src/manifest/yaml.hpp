#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "manifest/node.hpp"
#include "tenon/result.hpp"

namespace tenon::manifest {

/// Parses YAML, refusing what yaml-cpp accepts silently: duplicate and non-scalar keys, `<<`, anchors, aliases, tags, a
/// second document, unterminated quotes, text that is not UTF-8, nesting above 64, more than 1 MiB.
/// Fails with: config; the text is "file:line:col: what", one line for each mistake.
TENON_CORE Result<std::shared_ptr<const Document>> parse_yaml(const std::string& file, std::string_view text);
/// Reads a file of at most 1 MiB. Blocking. Fails with: config, naming the file and why.
TENON_CORE Result<std::string> read_text(const std::string& path);

}  // namespace tenon::manifest
