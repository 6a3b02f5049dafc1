// tenon new: the folder of a plugin or a service, which builds against an installed Tenon.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "manifest/nearest.hpp"
#include "new_project.hpp"

namespace tenon::cli {
namespace {

struct NewOptions {
  std::string kind;
  std::string name;
  std::string into = ".";
  bool proto = false;
};

constexpr const char* footer =
    "The folder NAME has a CMakeLists.txt (find_package(tenon)), sources to go on from, a test that loads the built\n"
    "plugin and makes a call through it, a manifest, and a README with the commands to build, test and run it.\n"
    "\n"
    "Examples:\n"
    "  tenon new plugin filter rate-limit\n"
    "  tenon new service greeter\n"
    "  tenon new service greeter --proto\n"
    "\n"
    "Exit codes: 0 written, 1 the folder is there already or cannot be written, 2 wrong kind or name";

int write(const std::string& kind, const NewOptions& wanted) {
  Result<ProjectNames> names = project_names(kind, wanted.name);
  if (!names.ok()) return misused("new", names.error().text());
  NewProject project;
  project.names = std::move(*names);
  project.proto = wanted.proto;
  project.into = wanted.into;
  const Result<std::vector<std::string>> files = write_project(project);
  if (!files.ok()) return complain("new", files.error());
  for (const std::string& file : *files) std::printf("%s\n", (project.into / file).lexically_normal().c_str());
  const std::string folder = (project.into / project.names.name).lexically_normal().string();
  std::printf(
      "\nNow:  cd %s && cmake -B build -DCMAKE_PREFIX_PATH=PREFIX && cmake --build build\n"
      "More in %s/README.md\n",
      folder.c_str(), folder.c_str());
  return exit_ok;
}

}  // namespace

Subcommand add_new(CLI::App& tenon) {
  auto options = std::make_shared<NewOptions>();
  CLI::App* parser = tenon.add_subcommand("new", "write the folder of a new plugin or service");
  parser->footer(footer);
  parser->require_subcommand(1);
  CLI::App* plugin = parser->add_subcommand("plugin", "a plugin of any kind that has a template");
  plugin->add_option("KIND", options->kind, "one of: " + listed(template_kinds()))->required();
  CLI::App* service = parser->add_subcommand("service", "a service that `tenon serve` runs");
  service->add_flag("--proto", options->proto, "from a .proto file instead of plain functions");
  for (CLI::App* one : {plugin, service}) {
    one->add_option("NAME", options->name, "letters, digits and dashes: rate-limit")->required();
    one->add_option("--into", options->into, "the folder is made here; default: the current directory")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory);
  }
  return {parser, [options, plugin] { return write(plugin->parsed() ? options->kind : "service", *options); }};
}

}  // namespace tenon::cli
