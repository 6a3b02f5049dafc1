#pragma once
// A fresh directory with copies of fixture plugins, removed with the object.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tenon/options.hpp"

class PluginFolder {
 public:
  PluginFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tenon-plugins-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    path_ = std::filesystem::canonical(name).string();
  }
  PluginFolder(const PluginFolder&) = delete;
  PluginFolder& operator=(const PluginFolder&) = delete;
  ~PluginFolder() {
    std::error_code ignored;  // the system cleans its temporary directory
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + '/' + name + ".so"; }
  PluginFolder& copy(const std::string& fixture, const std::string& as = {}) {
    const std::string to = file(as.empty() ? fixture : as);
    std::filesystem::copy_file(std::string(FIXTURE_DIR) + '/' + fixture + ".so", to);
    mode(to, 0755);
    return *this;
  }
  PluginFolder& write(const std::string& name, const std::string& bytes) {
    std::filesystem::remove(file(name));  // never into a file that may be mapped
    std::ofstream(file(name), std::ios::binary) << bytes;
    mode(file(name), 0644);
    return *this;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  static void mode(const std::string& path, mode_t mode) { ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path; }

  tenon::PluginOptions options() const {
    tenon::PluginOptions options;
    options.search = {path_};
    options.built_in = nullptr;  // files only, also where plugins are linked into programs
    return options;
  }

 private:
  std::string path_;
};
