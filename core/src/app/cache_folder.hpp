#pragma once
#include <string>

#include "tenon/core_export.hpp"
#include "tenon/result.hpp"

namespace tenon {

/// Makes the folder of client.cache ready: it and what is missing above it is created with mode 0700. Blocking: a few
/// system calls. Fails with: config (no folder and cannot be made, not ours to write, or anybody may write there: what
/// it holds says where calls go).
TENON_CORE Result<void> make_cache_folder(const std::string& path);

}  // namespace tenon
