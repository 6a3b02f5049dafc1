#pragma once
// What `tenon new` writes: a folder that builds outside the tree, against an installed Tenon.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/result.hpp"

namespace tenon::cli {

/// A file of apps/tenon/templates, compiled in. `path`: below that folder, without ".in".
struct ProjectTemplate {
  std::string_view path;
  std::string_view text;
};
std::span<const ProjectTemplate> project_templates();

/// The names that follow from what the user said.
struct ProjectNames {
  std::string kind;            ///< of component: "filter"
  std::string name;            ///< in the catalog and of the folder: "rate-limit"
  std::string plugin;          ///< the file without .so: "filter-rate-limit"
  std::string file;            ///< of sources: "rate_limit"
  std::string class_name;      ///< "RateLimit"
  std::string namespace_name;  ///< "rate_limit_filter"
};

/// Kinds that have templates, in the order of the alphabet.
std::vector<std::string_view> template_kinds();

/// Fails with: config (a name that is no file name and no C++ name, an unknown kind, one without a template; the text
/// says what would do).
Result<ProjectNames> project_names(const std::string& kind, const std::string& name);

struct NewProject {
  ProjectNames names;
  bool proto = false;          ///< a service from a .proto file instead of plain functions
  std::filesystem::path into;  ///< the new folder is made here
};

/// Writes the folder; all or nothing. Returns the files, in the order of the alphabet, relative to `into`.
/// Blocking. Fails with: already_exists (the folder is there; nothing is touched), internal (cannot be written).
Result<std::vector<std::string>> write_project(const NewProject& project);

}  // namespace tenon::cli
