// The exact text of what is generated, and of what is refused.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tenon::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : "cannot read " + file.string();
}

/// protoc with our plugin only, into a folder of its own.
class Protoc {
 public:
  Protoc(const fs::path& folder, const std::string& file) {
    std::string pattern = (fs::temp_directory_path() / "tenon-protoc-XXXXXX").string();
    if (!mkdtemp(pattern.data())) return;
    out_ = pattern;
    const std::string command = std::string("'" PROTOC "' --plugin=protoc-gen-tenon='" GENERATOR "' -I'") +
                                folder.string() + "' --tenon_out='" + out_.string() + "' '" + (folder / file).string() +
                                "' 2>&1 </dev/null";
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return;
    char buffer[4096];
    for (std::size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) said_.append(buffer, got);
    const int status = pclose(pipe);
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  Protoc(const Protoc&) = delete;
  Protoc& operator=(const Protoc&) = delete;
  ~Protoc() {
    std::error_code ignored;
    if (!out_.empty()) fs::remove_all(out_, ignored);
  }

  int code() const { return code_; }
  const std::string& said() const { return said_; }
  std::string written(const std::string& file) const { return text_of(out_ / file); }
  bool nothing_written() const { return fs::is_empty(out_); }

 private:
  fs::path out_;
  int code_ = -1;
  std::string said_;
};

TEST(Generated, HeaderAndSourceAreTheGoldenOnes) {
  const Protoc run(HERE, "documented.proto");
  ASSERT_EQ(run.code(), 0) << run.said();
  EXPECT_EQ(run.said(), "");
  EXPECT_EQ(run.written("documented.tenon.h"), text_of(HERE "/documented.tenon.h.expected"));
  EXPECT_EQ(run.written("documented.tenon.cc"), text_of(HERE "/documented.tenon.cc.expected"));
}

TEST(Refused, PackageWithAKeyword) {
  const Protoc run(HERE "/refused", "package_keyword.proto");
  EXPECT_EQ(run.code(), 1);
  EXPECT_EQ(run.said(), text_of(HERE "/refused/package_keyword.expected"));
  EXPECT_TRUE(run.nothing_written());
}

}  // namespace
}  // namespace tenon::test
