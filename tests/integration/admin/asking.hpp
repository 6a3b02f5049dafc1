#pragma once
// A client of tenon.Admin, and a directory for its sockets.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "support/test_apps.hpp"
#include "tenon/admin.hpp"
#include "tenon/functions.hpp"

namespace tenon::test {

/// A fresh directory of short name, removed with the object.
class SocketFolder {
 public:
  SocketFolder() {
    std::string name = "/tmp/tenon-admin-XXXXXX";
    if (!::mkdtemp(name.data())) std::abort();
    path_ = name;
  }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
  ~SocketFolder() {
    std::error_code ignored;  // the system cleans its temporary directory
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const noexcept { return path_; }
  std::string file(const std::string& name) const { return path_ + '/' + name; }
  std::string address(const std::string& name) const { return "unix:" + file(name); }

 private:
  std::string path_;
};

/// The permissions of a file; 0: there is none.
inline mode_t mode_of(const std::string& file) {
  struct stat found {};
  return ::lstat(file.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
}

/// Asks the tenon.Admin at an address.
class Asking {
 public:
  explicit Asking(const std::string& address, const std::string& serializer = "protobuf") {
    AppOptions chosen = client_options("tenon.Admin", address);
    if (serializer == "msgpack" || serializer == "simple") chosen.plugins.load.push_back("serialize-" + serializer);
    ReferenceOptions& reference = chosen.client.references["r"];
    reference.serializer = Component(serializer);
    reference.connect = ConnectWhen::lazy;
    reference.ha = Component("failfast");
    reference.limits.max_frame = 16u << 20;
    app_ = start(std::move(chosen));
  }
  template <class R, class... A>
  Result<R> ask(std::string_view method, const A&... arguments) const {
    return ClientFunction<R(A...)>(app_->reference("r"), method, true)(arguments...);
  }
  /// A failure fails the test.
  admin::Stats stats(std::uint32_t limit = 100) const { return value<admin::Stats>("stats", limit); }
  template <class R, class... A>
  R value(std::string_view method, const A&... arguments) const {
    Result<R> answer = ask<R>(method, arguments...);
    EXPECT_TRUE(answer.ok()) << method << ": " << answer.error().text();
    return answer.ok() ? std::move(*answer) : R();
  }

 private:
  std::unique_ptr<App> app_;
};

}  // namespace tenon::test
