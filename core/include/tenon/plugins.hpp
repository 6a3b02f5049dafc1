#pragma once
// What lies in plugin directories, for `tenon plugins` and for people who ask why a plugin is not there.

#include <string>
#include <vector>

#include "tenon/core_export.hpp"
#include "tenon/describe.hpp"
#include "tenon/options.hpp"
#include "tenon/result.hpp"

namespace tenon {

/// One option of an implementation.
struct OptionReport {
  std::string name;   ///< "pool.size" for a member of a nested struct
  std::string type;   ///< "duration", "list of string"
  std::string value;  ///< the default, as a manifest would write it
  std::string help;
};
BOOST_DESCRIBE_STRUCT(OptionReport, (), (name, type, value, help))

/// One implementation a plugin offers.
struct EntryReport {
  std::string kind;
  std::string name;
  std::vector<OptionReport> options;
};
BOOST_DESCRIBE_STRUCT(EntryReport, (), (kind, name, options))

/// One candidate, a file or built in: loadable (refusal empty) or not (name, version, stamp and entries empty).
struct PluginReport {
  std::string path;  ///< of the file; "NAME (built in)"
  std::string name;
  std::string version;
  std::string stamp;
  std::vector<EntryReport> entries;
  std::string refusal;  ///< a sentence that starts with the path at fault
};
BOOST_DESCRIBE_STRUCT(PluginReport, (), (path, name, version, stamp, entries, refusal))

/// Lists options.built_in, then examines every *.so in options.search, in order, each in a child process: nothing is
/// loaded into this one.
/// Blocking: tens of milliseconds per file, at most options.probe_timeout each.
/// Fails with: config when a directory cannot be read or the probe program is missing; bad files are no failure.
TENON_CORE Result<std::vector<PluginReport>> inspect(const PluginOptions& options);

}  // namespace tenon
