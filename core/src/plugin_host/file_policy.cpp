#include "plugin_host/file_policy.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "manifest/check.hpp"
#include "manifest/nearest.hpp"

namespace tenon::plugin_host {

namespace fs = std::filesystem;

namespace {

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run); }

std::string octal(mode_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

Result<void> check_owner(const std::string& path, const struct stat& facts) {
  if (facts.st_uid == 0 || facts.st_uid == ::geteuid()) return {};
  return refuse(path + " belongs to user " + std::to_string(facts.st_uid) +
                "; code is loaded only from files and directories of root or of the user running this process (" +
                std::to_string(::geteuid()) + ")");
}

Result<void> check_mode(const std::string& path, const struct stat& facts) {
  const bool group = (facts.st_mode & S_IWGRP) != 0;
  const bool world = (facts.st_mode & S_IWOTH) != 0;
  if (!group && !world) return {};
  const std::string who = group && world ? "its group and everybody" : group ? "its group" : "everybody";
  const std::string change = group && world ? "go-w" : group ? "g-w" : "o-w";
  return refuse(path + " can be written by " + who + " (mode " + octal(facts.st_mode) + "); run: chmod " + change +
                " " + path);
}

Result<void> check_directories(fs::path directory) {
  for (;;) {
    struct stat facts {};
    if (::stat(directory.c_str(), &facts) != 0)
      return refuse(directory.string() + " cannot be examined: " + std::strerror(errno));
    if (auto owner = check_owner(directory.string(), facts); !owner.ok()) return owner;
    if ((facts.st_mode & S_ISVTX) == 0) {
      if (auto mode = check_mode(directory.string(), facts); !mode.ok()) return mode;
    }
    if (!directory.has_relative_path()) return {};
    directory = directory.parent_path();
  }
}

}  // namespace

Result<std::string> find_file(std::string_view name, const std::vector<std::string>& directories) {
  const std::string plugin(name);
  if (!manifest::is_plugin_name(name))
    return refuse("\"" + plugin + "\" is no plugin name: it is a file name without directory and .so");
  if (directories.empty()) return refuse("plugin \"" + plugin + "\" not found: plugins.search names no directory");
  std::string searched;
  std::vector<std::string> others;
  for (const std::string& directory : directories) {
    if (directory.empty() || directory.front() != '/')
      return refuse("plugins.search: \"" + directory + "\" is not an absolute directory");
    const std::string path = directory + (directory.ends_with('/') ? "" : "/") + plugin + ".so";
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) == 0) return path;
    searched += (searched.empty() ? "" : ", ") + path;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".so") others.push_back(it->path().stem().string());
  }
  const std::vector<std::string_view> names(others.begin(), others.end());
  return refuse("plugin \"" + plugin + "\" not found (looked for " + searched + ")" + did_you_mean(name, names));
}

Result<std::string> check_file(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return refuse(path + " cannot be examined: " + std::strerror(errno));
  std::error_code error;
  const fs::path directory = fs::canonical(fs::path(path).parent_path(), error);
  if (error) return refuse(path + " cannot be examined: " + error.message());
  fs::path canonical = directory / fs::path(path).filename();
  if (S_ISLNK(facts.st_mode)) {
    const fs::path target = fs::read_symlink(path, error);
    canonical = fs::canonical(path, error);
    if (error) return refuse(path + " is a symbolic link to " + target.string() + ", which does not exist");
    if (canonical.parent_path() != directory)
      return refuse(path + " is a symbolic link to " + canonical.string() + ", outside its directory; copy the file " +
                    "there, or add " + canonical.parent_path().string() + " to plugins.search");
    if (::stat(canonical.c_str(), &facts) != 0)
      return refuse(canonical.string() + " cannot be examined: " + std::strerror(errno));
  }
  if (S_ISDIR(facts.st_mode)) return refuse(path + " is a directory, not a plugin");
  if (!S_ISREG(facts.st_mode)) return refuse(path + " is not a regular file");
  if (auto owner = check_owner(canonical.string(), facts); !owner.ok()) return std::move(owner).error();
  if (auto mode = check_mode(canonical.string(), facts); !mode.ok()) return std::move(mode).error();
  if (auto above = check_directories(directory); !above.ok()) return std::move(above).error();
  return canonical.string();
}

}  // namespace tenon::plugin_host
