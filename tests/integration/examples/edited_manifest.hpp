#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace examples_test {

/// A copy of examples/FILE beside the original (so that its relative paths hold) with `from` replaced by `to`.
class EditedManifest {
 public:
  explicit EditedManifest(const std::string& file) {
    const std::filesystem::path original = std::filesystem::path(EXAMPLES_DIR) / file;
    std::ifstream stream(original);
    text_ = std::string(std::istreambuf_iterator<char>(stream), {});
    EXPECT_FALSE(text_.empty()) << original;
    static int number = 0;
    path_ =
        original.parent_path() / ("edited-" + std::to_string(::getpid()) + "-" + std::to_string(number++) + ".yaml");
  }
  EditedManifest(const EditedManifest&) = delete;
  EditedManifest& operator=(const EditedManifest&) = delete;
  ~EditedManifest() { std::filesystem::remove(path_); }

  /// Every `from`, of which there must be one.
  EditedManifest& replace(const std::string& from, const std::string& to) {
    std::size_t at = text_.find(from);
    EXPECT_NE(at, std::string::npos) << "no \"" << from << "\" in " << text_;
    for (; at != std::string::npos; at = text_.find(from, at + to.size())) text_.replace(at, from.size(), to);
    return *this;
  }
  std::string write() const {
    std::ofstream(path_) << text_;
    return path_;
  }

 private:
  std::filesystem::path path_;
  std::string text_;
};

}  // namespace examples_test
