#include "new_project.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <system_error>
#include <utility>

#include "manifest/nearest.hpp"

namespace tenon::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 64;

/// A kind, the first word of its plugins' file names, and where to look when there is no template for it.
struct ProjectKind {
  std::string_view kind;
  std::string_view file_prefix;
  std::string_view example;  ///< empty: it has a template
};
constexpr ProjectKind kinds[] = {
    {"balancer", "balancer", ""},
    {"cluster", "cluster", "cluster/src/default_cluster"},
    {"compressor", "compress", ""},
    {"filter", "filter", ""},
    {"ha", "ha", ""},
    {"protocol", "protocol", "plugins/protocol-tenon"},
    {"registry", "registry", ""},
    {"router", "router", "spi/include/tenon/cluster.hpp"},
    {"serializer", "serialize", ""},
    {"service", "service", ""},
    {"transport", "transport", "transport-tcp"},
};

Error wrong(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

std::string fault_of(const std::string& name) {
  if (name.empty()) return "the name is empty";
  if (name.size() > longest_name) return "the name is longer than " + std::to_string(longest_name) + " letters";
  if (!is_letter(name.front())) return "a name begins with a letter";
  for (const char c : name)
    if (!is_letter(c) && !is_digit(c) && c != '-') return "a name consists of letters, digits and dashes";
  if (name.back() == '-' || name.find("--") != std::string::npos) return "each dash stands between letters or digits";
  // Files of these names are in every project.
  if (name == "plugin" || name == "echo-app") return "this name belongs to a file that every project has";
  return {};
}

// "@word@" for every word that is known; others (CMake's) stay.
std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& words) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = text.find('@');
    out += text.substr(0, at);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at);
    const auto found = std::find_if(words.begin(), words.end(), [text](const auto& word) {
      return text.size() > word.first.size() + 1 && text.substr(1).starts_with(word.first) &&
             text[word.first.size() + 1] == '@';
    });
    if (found == words.end()) {
      out += '@';
      text.remove_prefix(1);
    } else {
      out += found->second;
      text.remove_prefix(found->first.size() + 2);
    }
  }
  return out;
}

struct ProjectFile {
  std::string path;  // below the project's folder
  std::string_view text;
};

// The kind's own templates; what they lack comes from those of all plugins.
std::vector<ProjectFile> files_of(const NewProject& project, std::string& usage) {
  const std::string kind = project.proto ? "service-proto" : project.names.kind;
  std::vector<ProjectFile> files;
  for (const std::string& folder : {kind + '/', std::string("plugin/")}) {
    for (const ProjectTemplate& one : project_templates()) {
      if (!one.path.starts_with(folder)) continue;
      std::string path(one.path.substr(folder.size()));
      if (path == "usage.md") {
        usage = one.text;
        continue;
      }
      if (path == "tests/echo_app.hpp" && project.names.kind == "service") continue;  // it has a service to call
      if (const std::size_t at = path.find("NAME"); at != std::string::npos) path.replace(at, 4, project.names.file);
      const bool there = std::any_of(files.begin(), files.end(), [&](const ProjectFile& f) { return f.path == path; });
      if (!there) files.push_back({std::move(path), one.text});
    }
  }
  std::sort(files.begin(), files.end(), [](const ProjectFile& a, const ProjectFile& b) { return a.path < b.path; });
  return files;
}

bool is_source(const std::string& path) { return path.starts_with("src/") && path.ends_with(".cpp"); }

Error cannot_write(const fs::path& path) {
  return Error(Errc::internal, "cannot write " + path.string() + ": " + std::generic_category().message(errno));
}

Result<void> write_file(const fs::path& path, const std::string& text) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed) return Error(Errc::internal, "cannot make " + path.parent_path().string() + ": " + failed.message());
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return cannot_write(path);
  return {};
}

}  // namespace

std::vector<std::string_view> template_kinds() {
  std::vector<std::string_view> found;
  for (const ProjectKind& one : kinds)
    if (one.example.empty()) found.push_back(one.kind);
  return found;
}

Result<ProjectNames> project_names(const std::string& kind, const std::string& name) {
  const auto* const known =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const ProjectKind& one) { return one.kind == kind; });
  if (known == std::end(kinds)) {
    std::string near = did_you_mean(kind, template_kinds());
    if (near.empty()) near = "; there are: " + listed(template_kinds());
    return wrong("there is no kind \"" + kind + '"' + near);
  }
  if (!known->example.empty())
    return wrong("there is no template for a " + kind + " (there are: " + listed(template_kinds()) +
                 "); one to begin with is " + std::string(known->example) + " of Tenon's sources");
  if (const std::string fault = fault_of(name); !fault.empty())
    return wrong("\"" + name + "\": " + fault + "; for example: rate-limit");
  ProjectNames names;
  names.kind = kind;
  names.name = name;
  names.plugin = std::string(known->file_prefix) + '-' + name;
  bool begins = true;
  for (const char c : name) {
    names.file += c == '-' ? '_' : lower(c);
    if (c != '-') names.class_name += begins ? upper(c) : c;
    begins = c == '-';
  }
  names.namespace_name = names.file + '_' + kind;  // never a keyword, and nothing that <time.h> has declared
  return names;
}

Result<std::vector<std::string>> write_project(const NewProject& project) {
  const ProjectNames& names = project.names;
  const fs::path folder = project.into / names.name;
  std::error_code failed;
  if (fs::exists(fs::symlink_status(folder, failed)))
    return Error(Errc::already_exists,
                 folder.string() + " is there already; nothing was written. Choose another name, or --into DIR");

  std::string usage;
  const std::vector<ProjectFile> files = files_of(project, usage);
  std::string sources;
  std::string parts;
  for (const ProjectFile& file : files) {
    if (!is_source(file.path)) continue;
    sources += (sources.empty() ? "" : " ") + file.path;
    if (file.path != "src/plugin.cpp") parts += (parts.empty() ? "" : " ") + file.path;
  }
  std::vector<std::pair<std::string_view, std::string>> words{
      {"kind", names.kind},        {"name", names.name},
      {"plugin", names.plugin},    {"file", names.file},
      {"Class", names.class_name}, {"namespace", names.namespace_name},
      {"sources", sources},        {"parts", parts},
      {"version", TENON_VERSION}};
  words.emplace_back("usage", filled(usage, words));

  // Under another name first, so that a full disk leaves no half project behind.
  const fs::path draft = project.into / ('.' + names.name + ".new");
  fs::remove_all(draft, failed);
  std::vector<std::string> written;
  for (const ProjectFile& file : files) {
    if (Result<void> done = write_file(draft / file.path, filled(file.text, words)); !done.ok()) {
      fs::remove_all(draft, failed);
      return std::move(done).error();
    }
    written.push_back((fs::path(names.name) / file.path).string());
  }
  fs::rename(draft, folder, failed);
  if (failed) {
    const Error error(Errc::internal, "cannot make " + folder.string() + ": " + failed.message());
    fs::remove_all(draft, failed);
    return error;
  }
  return written;
}

}  // namespace tenon::cli
