#include "new_project.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

class NewProjectTest : public testing::Test {
 protected:
  NewProjectTest() {
    std::string name = (fs::temp_directory_path() / "tenon-new-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    folder_ = name;
  }
  ~NewProjectTest() override {
    std::error_code ignored;  // the system cleans its temporary directory
    fs::remove_all(folder_, ignored);
  }
  Result<std::vector<std::string>> write(const std::string& kind, const std::string& name, bool proto = false) {
    Result<ProjectNames> names = project_names(kind, name);
    if (!names.ok()) return std::move(names).error();
    return write_project({std::move(*names), proto, folder_});
  }
  std::string read(const std::string& file) const {
    std::ifstream in(folder_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  fs::path folder_;
};

TEST_F(NewProjectTest, NamesFollowFromOne) {
  const Result<ProjectNames> names = project_names("compressor", "Run-length-2");
  ASSERT_TRUE(names.ok()) << names.error().text();
  EXPECT_EQ(names->name, "Run-length-2");
  EXPECT_EQ(names->plugin, "compress-Run-length-2");
  EXPECT_EQ(names->file, "run_length_2");
  EXPECT_EQ(names->class_name, "RunLength2");
  EXPECT_EQ(names->namespace_name, "run_length_2_compressor");
}

TEST_F(NewProjectTest, RefusesNamesThatAreNone) {
  for (const std::string name :
       {"", "2fast", "-a", "a-", "a--b", "a_b", "a b", "a/b", "..", "plugin", "echo-app", "ä"}) {
    const Result<ProjectNames> names = project_names("filter", name);
    ASSERT_FALSE(names.ok()) << name;
    EXPECT_EQ(names.error().code(), Errc::config);
    EXPECT_TRUE(names.error().text().starts_with('"' + name + '"')) << names.error().text();
  }
  EXPECT_FALSE(project_names("filter", std::string(65, 'a')).ok());
  EXPECT_TRUE(project_names("filter", std::string(64, 'a')).ok());
}

TEST_F(NewProjectTest, SaysWhichKindsThereAre) {
  EXPECT_EQ(project_names("flter", "a").error().text(), "there is no kind \"flter\", did you mean \"filter\"?");
  const std::string none = project_names("gizmo", "a").error().text();
  EXPECT_NE(none.find("balancer, compressor, filter, ha, registry, serializer, service"), std::string::npos) << none;
  const std::string protocol = project_names("protocol", "a").error().text();
  EXPECT_NE(protocol.find("plugins/protocol-tenon"), std::string::npos) << protocol;
}

TEST_F(NewProjectTest, EveryKindHasItsFilesAndNoWordIsLeft) {
  for (const std::string_view kind : template_kinds()) {
    const std::string name = "a-" + std::string(kind);
    const Result<std::vector<std::string>> files = write(std::string(kind), name);
    ASSERT_TRUE(files.ok()) << files.error().text();
    for (const char* file : {"CMakeLists.txt", "README.md", "manifest.yaml.in", "src/plugin.cpp"})
      EXPECT_NE(std::find(files->begin(), files->end(), name + '/' + file), files->end()) << kind << ' ' << file;
    for (const std::string& file : *files) {
      const std::string text = read(file);
      EXPECT_FALSE(text.empty()) << file;
      for (const char* word : {"@name@", "@kind@", "@plugin@", "@file@", "@Class@", "@namespace@", "@sources@",
                               "@parts@", "@usage@", "@version@"})
        EXPECT_EQ(text.find(word), std::string::npos) << file << " has " << word;
    }
    EXPECT_NE(read(name + "/manifest.yaml.in").find("@CMAKE_CURRENT_BINARY_DIR@"), std::string::npos) << kind;
  }
}

TEST_F(NewProjectTest, AServiceMayHaveAProtoFile) {
  const Result<std::vector<std::string>> files = write("service", "echo", true);
  ASSERT_TRUE(files.ok()) << files.error().text();
  // Its own folder: "echo.proto" is a name that a process may have already.
  EXPECT_NE(read("echo/proto/demo/echo.proto").find("service Echo {"), std::string::npos);
  EXPECT_NE(read("echo/CMakeLists.txt").find("COMPONENTS protobuf"), std::string::npos);
}

TEST_F(NewProjectTest, TouchesNothingThatIsThere) {
  fs::create_directory(folder_ / "taken");
  const Result<std::vector<std::string>> refused = write("filter", "taken");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::already_exists);
  EXPECT_TRUE(fs::is_empty(folder_ / "taken"));
  fs::create_symlink("nowhere", folder_ / "dangling");
  EXPECT_EQ(write("filter", "dangling").error().code(), Errc::already_exists);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(NewProjectTest, LeavesNothingBehindWhenItCannotWrite) {
  std::ofstream(folder_ / "file") << "x";
  Result<ProjectNames> names = project_names("filter", "a");
  ASSERT_TRUE(names.ok());
  const Result<std::vector<std::string>> refused = write_project({std::move(*names), false, folder_ / "file"});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find((folder_ / "file").string()), std::string::npos) << refused.error().text();
  EXPECT_EQ(read("file"), "x");
}

}  // namespace
}  // namespace tenon::cli
