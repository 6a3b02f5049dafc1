#pragma once
#include <string>

#include "tenon/options.hpp"
#include "tenon/plugins.hpp"
#include "tenon/result.hpp"

namespace tenon::plugin_host {

/// Where tenon-probe is: options.probe_program, else beside the core library, in ../bin or in ../libexec/tenon.
/// Fails with: config, listing where it looked.
Result<std::string> find_probe(const PluginOptions& options);

/// Opens `path` in a child process that has opened everything this process has open. A file whose initialisers throw,
/// crash, hang or end the process is found out here and costs only the child.
/// Blocking: until the child has ended, at most options.probe_timeout. Threads: any.
/// Returns the report; its refusal says what is wrong with the file. Fails with: config, internal (the child could not
/// be started).
Result<PluginReport> probe(const std::string& program, const std::string& path, const PluginOptions& options);

}  // namespace tenon::plugin_host
