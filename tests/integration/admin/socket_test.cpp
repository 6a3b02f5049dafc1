// The admin socket: who may use it, and what stands in its way.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "asking.hpp"

namespace tenon {
namespace {

using test::Asking;
using test::SocketFolder;

AppOptions watched(const std::string& address, const std::string& application = "app") {
  AppOptions options = test::options(application);
  options.admin = AdminOptions{address, {}};
  return options;
}

/// Why an App does not start.
Error refusal(AppOptions options) {
  auto app = App::create(std::move(options));
  if (!app.ok()) return app.error();
  auto started = (*app)->start();
  if (started.ok()) {
    ADD_FAILURE() << "it started";
    return {};
  }
  return started.error();
}

TEST(AdminSocket, OnlyItsUserMayConnect) {
  const SocketFolder sockets;
  const mode_t before = ::umask(0);
  const auto app = test::start(watched(sockets.address("a.sock")));
  ::umask(before);
  ASSERT_TRUE(app);
  EXPECT_EQ(test::mode_of(sockets.file("a.sock")), 0600u);
  EXPECT_EQ(Asking(sockets.address("a.sock")).stats().app.application, "app");
}

// Whatever transport makes the socket.
TEST(AdminSocket, ADoorForEverybodyIsNotOpened) {
  const SocketFolder sockets;
  AppOptions options = watched(sockets.address("a.sock"));
  std::erase(options.plugins.load, "transport-tcp");
  options.plugins.load.push_back("test-open-door");
  options.plugins.search.push_back(OWN_PLUGIN_DIR);
  const Error error = refusal(std::move(options));
  EXPECT_EQ(error.code(), Errc::unavailable);
  EXPECT_EQ(error.text(),
            "admin.listen: " + sockets.address("a.sock") + ": must be a socket of mode 0600, is of mode 0666");
  EXPECT_EQ(test::mode_of(sockets.file("a.sock")), 0u);
}

TEST(AdminSocket, NoneUnlessAskedFor) {
  const SocketFolder sockets;
  AppOptions options = watched(sockets.address("a.sock"));
  options.admin.reset();
  const auto app = test::start(std::move(options));
  ASSERT_TRUE(app);
  EXPECT_EQ(test::mode_of(sockets.file("a.sock")), 0u);
}

// Neither is the business port a way in.
TEST(AdminSocket, TheServiceIsOnNoOtherPort) {
  const SocketFolder sockets;
  AppOptions options = test::server_options();
  options.admin = AdminOptions{sockets.address("a.sock"), {}};
  const auto app = test::start(std::move(options), {std::make_shared<Functions>("test.Nothing")});
  ASSERT_TRUE(app);
  const auto refused = Asking(app->addresses()[0]).ask<admin::AppState>("state");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::not_found);
}

TEST(AdminSocket, TwoAppsInOneProcess) {
  const SocketFolder sockets;
  const auto one = test::start(watched(sockets.address("1.sock"), "one"));
  auto two = test::start(watched(sockets.address("2.sock"), "two"));
  ASSERT_TRUE(one && two);
  const Asking ask_one(sockets.address("1.sock"));
  const Asking ask_two(sockets.address("2.sock"));
  EXPECT_EQ(ask_one.stats().app.application, "one");
  EXPECT_EQ(ask_two.stats().app.application, "two");
  two.reset();
  EXPECT_EQ(test::mode_of(sockets.file("2.sock")), 0u);
  EXPECT_EQ(ask_one.stats().app.application, "one");
}

TEST(AdminSocket, PathInUse) {
  const SocketFolder sockets;
  const auto first = test::start(watched(sockets.address("a.sock"), "first"));
  ASSERT_TRUE(first);
  const Error error = refusal(watched(sockets.address("a.sock"), "second"));
  EXPECT_EQ(error.code(), Errc::unavailable);
  EXPECT_EQ(error.text(), "admin.listen: " + sockets.address("a.sock") + ": address already in use");
  EXPECT_EQ(Asking(sockets.address("a.sock")).stats().app.application, "first") << "which is not disturbed";
}

TEST(AdminSocket, AStaleFileIsReplaced) {
  const SocketFolder sockets;
  const std::string path = sockets.file("a.sock");
  const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(dead, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(dead);
  ASSERT_NE(test::mode_of(path), 0u);
  const auto app = test::start(watched(sockets.address("a.sock")));
  ASSERT_TRUE(app);
  EXPECT_EQ(test::mode_of(path), 0600u);
  EXPECT_EQ(Asking(sockets.address("a.sock")).stats().app.application, "app");
}

TEST(AdminSocket, AnotherFileIsNotTouched) {
  const SocketFolder sockets;
  std::ofstream(sockets.file("a.sock")) << "precious";
  const Error error = refusal(watched(sockets.address("a.sock")));
  EXPECT_EQ(error.code(), Errc::unavailable);
  EXPECT_NE(error.text().find("the file exists and is no socket"), std::string::npos) << error.text();
  std::string text;
  std::ifstream(sockets.file("a.sock")) >> text;
  EXPECT_EQ(text, "precious");
}

TEST(AdminSocket, DirectoryMissing) {
  const SocketFolder sockets;
  const Error error = refusal(watched(sockets.address("none/a.sock")));
  EXPECT_EQ(error.code(), Errc::unavailable);
  EXPECT_EQ(error.text(), "admin.listen: " + sockets.address("none/a.sock") +
                              ": no such file or directory (the socket's directory must exist)");
}

TEST(AdminSocket, PathTooLong) {
  const SocketFolder sockets;
  const std::string address = sockets.address(std::string(120, 'x'));
  const Error error = refusal(watched(address));
  EXPECT_EQ(error.code(), Errc::config);
  EXPECT_NE(error.text().find("admin.listen: address '" + address + "': the path has "), std::string::npos)
      << error.text();
  EXPECT_NE(error.text().find("the kernel takes 107"), std::string::npos) << error.text();
}

TEST(AdminSocket, OtherAddressesAreRefused) {
  for (const char* address : {"127.0.0.1:0", "unix:relative.sock", "unix:@everybody", "unix:"}) {
    const Error error = refusal(watched(address));
    EXPECT_EQ(error.code(), Errc::config) << address;
    EXPECT_NE(error.text().find("admin.listen: must be \"unix:\" and an absolute path"), std::string::npos)
        << error.text();
  }
  EXPECT_NE(refusal(watched("")).text().find("admin: \"listen\" is missing"), std::string::npos);
}

TEST(AdminSocket, MissingPluginsAreNamed) {
  const SocketFolder sockets;
  AppOptions options = watched(sockets.address("a.sock"));
  std::erase(options.plugins.load, "transport-tcp");
  EXPECT_NE(refusal(std::move(options)).text().find("add transport-tcp to plugins.load"), std::string::npos);
  options = watched(sockets.address("a.sock"));
  options.admin->protocols = {"nonesuch"};
  EXPECT_NE(refusal(std::move(options)).text().find("admin.protocols[0]: there is no protocol \"nonesuch\""),
            std::string::npos);
}

}  // namespace
}  // namespace tenon
