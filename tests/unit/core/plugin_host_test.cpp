#include "plugin_host/plugin_host.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/version.hpp>
#include <random>
#include <thread>

#include "fixtures/greeting.hpp"
#include "plugin_folder.hpp"
#include "plugin_host/elf_file.hpp"
#include "stub_environment.hpp"

namespace tenon {
namespace {

using plugin_host::PluginHost;

struct Bad {
  const char* name;
  std::string message;  // after the path of the file
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

class RefusedPlugin : public testing::TestWithParam<Bad> {};

TEST_P(RefusedPlugin, ExactMessageAndTheHostGoesOn) {
  PluginFolder folder;
  folder.copy(GetParam().name).copy("good");
  PluginOptions options = folder.options();
  if (std::string(GetParam().name) == "hanging_initialiser") options.probe_timeout = std::chrono::milliseconds(500);
  PluginHost host(options);
  const Result<void> refused = host.load(GetParam().name);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), folder.file(GetParam().name) + ' ' + GetParam().message);
  EXPECT_EQ(refused.error().code(), Errc::config);
  EXPECT_TRUE(host.catalog().all().empty());
  const Result<void> good = host.load("good");
  ASSERT_TRUE(good.ok()) << good.error().text();
  EXPECT_NE(host.catalog().find("greeting", "hello"), nullptr);
}

const std::string host_number = std::to_string(TENON_ABI);
const std::string rebuild = ", this host has ABI " + host_number + "; rebuild it with this host's headers";

std::string stamp_message() {
  std::string host = "cxx11abi1 boost" + std::to_string(BOOST_VERSION);
  for (const char* word : {" ndebug", " asan", " tsan"})
    if (std::string(stamp).find(word) != std::string::npos) host += word;
  return "was built differently from this host: it has cxx11abi0 boost107400, the host has " + host +
         "; build both with the same compiler settings and libraries";
}

INSTANTIATE_TEST_SUITE_P(
    Each, RefusedPlugin,
    testing::Values(Bad{"wrong_abi", "is built for ABI 999" + rebuild},
                    Bad{"wrong_number", "is built for ABI 7" + rebuild}, Bad{"wrong_stamp", stamp_message()},
                    Bad{"small_constant", "has a plugin constant of 16 bytes, this host needs " +
                                              std::to_string(sizeof(Plugin)) + "; rebuild it with this host's headers"},
                    Bad{"own_asio",
                        "carries its own copy of Boost.Asio; link the shared tenon::spi and build with its "
                        "definitions (BOOST_ASIO_DYN_LINK)"},
                    Bad{"undefined_symbol",
                        "cannot be loaded: undefined symbol: fixture::missing_function(int); link the library "
                        "that defines it"},
                    Bad{"throwing_initialiser",
                        "cannot be loaded: its initialiser threw std::runtime_error: no licence file"},
                    Bad{"aborting_initialiser", "cannot be loaded: its initialiser crashed (SIGABRT)"},
                    Bad{"exiting_initialiser", "cannot be loaded: its initialiser ended the process (exit code 7)"},
                    Bad{"hanging_initialiser",
                        "cannot be loaded: opening it took longer than 500 ms (plugins.probe_timeout); its "
                        "initialiser hangs"},
                    Bad{"throwing_install", "threw from its install function: the other half is missing"},
                    Bad{"twice", "offers greeting \"twice\" twice"},
                    Bad{"no_plugin", "is not a Tenon plugin: it exports no tenon_plugin_abi" + host_number}),
    [](const testing::TestParamInfo<Bad>& info) { return std::string(info.param.name); });

// Loads `name`, which must be refused, then good.so.
std::string refusal(PluginFolder& folder, const std::string& name) {
  if (!std::filesystem::exists(folder.file("good"))) folder.copy("good");
  PluginHost host(folder.options());
  const Result<void> refused = host.load(name);
  if (refused.ok()) return "it was loaded";
  PluginFolder::mode(folder.path(), 0700);
  const Result<void> good = host.load("good");
  EXPECT_TRUE(good.ok()) << good.error().text();
  return refused.error().text();
}

TEST(PluginHost, OwnCopyOfALoadedProto) {
  PluginFolder folder;
  folder.copy("shared_proto").copy("own_proto").copy("good");
  PluginHost host(folder.options());
  const Result<void> first = host.load("shared_proto");
  ASSERT_TRUE(first.ok()) << first.error().text();
  const Result<void> second = host.load("own_proto");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().text(), folder.file("own_proto") +
                                       " carries its own copy of fixture.proto, which is already loaded; link the "
                                       "shared proto library");
  EXPECT_TRUE(host.load("good").ok());
  EXPECT_NE(host.catalog().find("greeting", "shared_proto"), nullptr);
}

TEST(PluginHost, DuplicateNameNamesBothFilesAndIsRolledBack) {
  PluginFolder folder;
  folder.copy("good").copy("duplicate").copy("other_kind");
  PluginHost host(folder.options());
  ASSERT_TRUE(host.load("good").ok());
  const Result<void> second = host.load("duplicate");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().text(), "greeting \"hello\" is offered by both " + folder.file("good") + " and " +
                                       folder.file("duplicate") + "; load one of them");
  EXPECT_EQ(second.error().code(), Errc::already_exists);
  EXPECT_EQ(host.catalog().find("greeting", "only-in-duplicate"), nullptr);
  EXPECT_TRUE(host.load("other_kind").ok()) << "the same name of another kind is no duplicate";
  EXPECT_EQ(host.catalog().find("greeting", "hello")->origin, folder.file("good"));
  EXPECT_EQ(host.catalog().find("greeting", "hello")->version, "1.2.3");
}

TEST(PluginHost, GroupWritableDirectory) {
  PluginFolder folder;
  folder.copy("good");
  PluginFolder::mode(folder.path(), 0775);
  EXPECT_EQ(refusal(folder, "good"),
            folder.path() + " can be written by its group (mode 0775); run: chmod g-w " + folder.path());
}

TEST(PluginHost, WorldWritableDirectoryAboveUnlessSticky) {
  PluginFolder folder;
  std::filesystem::create_directories(folder.path() + "/above/plugins");
  std::filesystem::copy_file(std::string(FIXTURE_DIR) + "/good.so", folder.path() + "/above/plugins/good.so");
  PluginFolder::mode(folder.path() + "/above/plugins/good.so", 0755);
  PluginFolder::mode(folder.path() + "/above/plugins", 0755);
  PluginFolder::mode(folder.path() + "/above", 0777);
  PluginOptions options;
  options.search = {folder.path() + "/above/plugins"};
  PluginHost host(options);
  const Result<void> refused = host.load("good");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), folder.path() + "/above can be written by its group and everybody (mode 0777); " +
                                        "run: chmod go-w " + folder.path() + "/above");
  PluginFolder::mode(folder.path() + "/above", 01777);
  EXPECT_TRUE(host.load("good").ok());
}

TEST(PluginHost, WritableFile) {
  PluginFolder folder;
  folder.copy("good").copy("good", "open");
  PluginFolder::mode(folder.file("open"), 0757);
  EXPECT_EQ(refusal(folder, "open"),
            folder.file("open") + " can be written by everybody (mode 0757); run: chmod o-w " + folder.file("open"));
}

TEST(PluginHost, ForeignOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  PluginFolder folder;
  folder.copy("good", "foreign");
  ASSERT_EQ(::chown(folder.file("foreign").c_str(), 12345, 12345), 0);
  EXPECT_EQ(refusal(folder, "foreign"),
            folder.file("foreign") +
                " belongs to user 12345; code is loaded only from files and directories of root "
                "or of the user running this process (0)");
}

TEST(PluginHost, LinkOutOfTheDirectory) {
  PluginFolder elsewhere, folder;
  elsewhere.copy("good", "target");
  std::filesystem::create_symlink(elsewhere.file("target"), folder.file("link"));
  EXPECT_EQ(refusal(folder, "link"), folder.file("link") + " is a symbolic link to " + elsewhere.file("target") +
                                         ", outside its directory; copy the file there, or add " + elsewhere.path() +
                                         " to plugins.search");
}

TEST(PluginHost, LinkInsideTheDirectoryIsFine) {
  PluginFolder folder;
  folder.copy("good", "good-1.2");
  std::filesystem::create_symlink("good-1.2.so", folder.file("good"));
  PluginHost host(folder.options());
  ASSERT_TRUE(host.load("good").ok());
  EXPECT_EQ(host.catalog().find("greeting", "hello")->origin, folder.file("good-1.2"));
  EXPECT_TRUE(host.load("good-1.2").ok()) << "the same file again is no duplicate";
}

TEST(PluginHost, DanglingLink) {
  PluginFolder folder;
  std::filesystem::create_symlink("gone.so", folder.file("dangling"));
  EXPECT_EQ(refusal(folder, "dangling"),
            folder.file("dangling") + " is a symbolic link to gone.so, which does not exist");
}

TEST(PluginHost, NotAnElfFile) {
  PluginFolder folder;
  folder.write("script", "#!/bin/sh\necho no plugin\n");
  EXPECT_EQ(refusal(folder, "script"), folder.file("script") + " is not an ELF file");
}

TEST(PluginHost, EmptyFile) {
  PluginFolder folder;
  folder.write("empty", "");
  EXPECT_EQ(refusal(folder, "empty"), folder.file("empty") + " is not an ELF file: it is empty");
}

TEST(PluginHost, Directory) {
  PluginFolder folder;
  std::filesystem::create_directory(folder.file("directory"));
  EXPECT_EQ(refusal(folder, "directory"), folder.file("directory") + " is a directory, not a plugin");
}

TEST(PluginHost, OtherMachine) {
  PluginFolder folder;
  folder.copy("good");
  std::string bytes = folder.read("good");
  bytes[18] = static_cast<char>(183);  // e_machine: EM_AARCH64
  bytes[19] = 0;
  folder.write("arm", bytes);
  EXPECT_EQ(refusal(folder, "arm"), folder.file("arm") + " is built for aarch64, this host is x86-64");
}

TEST(PluginHost, TruncatedAnywhere) {
  PluginFolder folder;
  folder.copy("good");
  const std::string bytes = folder.read("good");
  const std::string damaged = " is truncated or damaged: its ELF headers name bytes it does not have";
  for (std::size_t size = 4; size < bytes.size(); size += 1 + bytes.size() / 97) {
    folder.write("cut", bytes.substr(0, size));
    PluginHost host(folder.options());
    const Result<void> refused = host.load("cut");
    ASSERT_FALSE(refused.ok()) << "cut at " << size;
    EXPECT_EQ(refused.error().text(), folder.file("cut") + damaged) << "cut at " << size;
  }
  EXPECT_EQ(refusal(folder, "cut"), folder.file("cut") + damaged);
}

TEST(PluginHost, DamagedHeadersNeverCrashTheCheck) {
  PluginFolder folder;
  folder.copy("good");
  const std::string bytes = folder.read("good");
  std::mt19937 random(20261130);
  int refused = 0;
  constexpr int rounds = 3000;
  for (int round = 0; round < rounds; ++round) {
    std::string changed = bytes;
    // The ELF and program headers stand first, the section headers last.
    for (int i = 0; i < 4; ++i) {
      const std::size_t front = random() % 640, back = changed.size() - 1 - random() % 2048;
      changed[random() % 2 == 0 ? front : back] = static_cast<char>(random());
    }
    folder.write("changed", changed);
    const Result<void> done = plugin_host::check_elf(folder.file("changed"));
    if (done.ok()) continue;
    ++refused;
    ASSERT_TRUE(done.error().text().starts_with(folder.file("changed"))) << done.error().text();
  }
  EXPECT_GT(refused, rounds / 20);
  EXPECT_LT(refused, rounds);
}

TEST(PluginHost, NamesThatCouldLeaveTheDirectory) {
  PluginFolder folder;
  folder.copy("good");
  for (const char* name : {"../good", "sub/good", "..", ".", "", ".hidden", "/etc/good", "good.so", "a b"}) {
    EXPECT_EQ(refusal(folder, name),
              '"' + std::string(name) + "\" is no plugin name: it is a file name without directory and .so");
  }
}

TEST(PluginHost, RelativeDirectory) {
  PluginOptions options;
  options.search = {"plugins"};
  PluginHost host(options);
  const Result<void> refused = host.load("good");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), "plugins.search: \"plugins\" is not an absolute directory");
}

TEST(PluginHost, NotFoundSaysWhereItLookedAndWhatIsNear) {
  PluginFolder one, two;
  two.copy("good");
  PluginOptions options;
  options.search = {one.path(), two.path()};
  PluginHost host(options);
  const Result<void> refused = host.load("goood");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), "plugin \"goood\" not found (looked for " + one.file("goood") + ", " +
                                        two.file("goood") + "), did you mean \"good\"?");
}

TEST(PluginHost, LoadAllReportsEveryFailureAndLoadsTheRest) {
  PluginFolder folder;
  folder.copy("wrong_abi").copy("good");
  folder.write("script", "no");
  PluginOptions options = folder.options();
  options.load = {"wrong_abi", "good", "script"};
  PluginHost host(options);
  const Result<void> done = host.load_all();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().text(), folder.file("wrong_abi") + " is built for ABI 999" + rebuild + "\n" +
                                     folder.file("script") + " is not an ELF file");
  EXPECT_NE(host.catalog().find("greeting", "hello"), nullptr);
  EXPECT_EQ(host.refusals().size(), 2u);
}

TEST(PluginHost, ProbeProgramMissing) {
  PluginFolder folder;
  folder.copy("good", "unopened");
  PluginOptions options = folder.options();
  options.probe_program = "/nowhere/tenon-probe";
  PluginHost host(options);
  const Result<void> refused = host.load("unopened");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), "plugins.probe_program: /nowhere/tenon-probe is no program at an absolute path");
  options.probe = false;
  PluginHost trusting(options);
  EXPECT_TRUE(trusting.load("unopened").ok());
}

TEST(PluginHost, HundredHostsLoadOneFile) {
  PluginFolder folder;
  folder.copy("good");
  std::atomic<int> loaded{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) {
    threads.emplace_back([&] {
      PluginHost host(folder.options());
      if (host.load("good").ok() && host.catalog().find("greeting", "hello")) ++loaded;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(loaded, 100);
}

TEST(PluginHost, AsioIsTheSameInsideAPlugin) {
  PluginFolder folder;
  folder.copy("asio_view");
  PluginHost host(folder.options());
  ASSERT_TRUE(host.load("asio_view").ok());
  test::StubEnvironment stub;
  ComponentBuilder builder(host, stub.environment());
  const auto view = builder.make<fixture::AsioView>("view", "view");
  ASSERT_TRUE(view.ok()) << view.error().text();
  boost::system::error_code error = boost::asio::error::eof;
  EXPECT_TRUE((*view)->is_eof(error));
  error = boost::asio::error::not_found;
  EXPECT_FALSE((*view)->is_eof(error));
  boost::asio::io_context context;
  EXPECT_FALSE((*view)->runs_here(context));
  bool here = false, inline_dispatch = false;
  boost::asio::post(context, [&] {
    here = (*view)->runs_here(context);
    inline_dispatch = (*view)->dispatches_inline(context);
  });
  context.run();
  EXPECT_TRUE(here);
  EXPECT_TRUE(inline_dispatch);
}

}  // namespace
}  // namespace tenon
