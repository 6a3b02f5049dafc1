#pragma once
#include <string>

#include "tenon/core_export.hpp"
#include "tenon/result.hpp"

namespace tenon::plugin_host {

/// Looks at a shared library without running any of it: is it ELF, for this machine, whole, and does it export the
/// plugin constant of this host's ABI? Memory-maps the file; every offset is checked against its size.
/// Blocking: reads the file. Fails with: config, naming the file and what to do.
TENON_CORE Result<void> check_elf(const std::string& path);

}  // namespace tenon::plugin_host
