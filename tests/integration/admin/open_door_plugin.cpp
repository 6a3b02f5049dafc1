// A transport "tcp" that makes unix sockets for everybody: the door that the admin service must not open.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "tenon/plugin.hpp"
#include "tenon/transport.hpp"

namespace {

class OpenListener final : public tenon::Listener {
 public:
  explicit OpenListener(const std::string& address) : address_(address), fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::strncpy(to.sun_path, path().c_str(), sizeof to.sun_path - 1);
    bound_ = ::bind(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 && ::chmod(path().c_str(), 0666) == 0 &&
             ::listen(fd_, 1) == 0;
  }
  ~OpenListener() override {
    close();
    ::close(fd_);
  }
  bool bound() const noexcept { return bound_; }
  tenon::Task<tenon::Result<std::unique_ptr<tenon::ByteStream>>> accept(tenon::Executor&) override {
    co_return tenon::Error(tenon::Errc::cancelled, "it must never come to that");
  }
  void close() noexcept override { ::unlink(path().c_str()); }
  const std::string& address() const noexcept override { return address_; }

 private:
  std::string path() const { return address_.substr(address_.find(':') + 1); }
  const std::string address_;
  const int fd_;
  bool bound_ = false;
};

class OpenTransport final : public tenon::Transport {
 public:
  using Options = tenon::NoOptions;
  static tenon::Result<std::unique_ptr<OpenTransport>> create(Options, tenon::Environment) {
    return std::make_unique<OpenTransport>();
  }
  tenon::Result<void> check(std::string_view) const override { return {}; }
  tenon::Task<tenon::Result<std::unique_ptr<tenon::ByteStream>>> connect(const std::string& address, tenon::Executor&,
                                                                         tenon::TimePoint) const override {
    co_return tenon::Error(tenon::Errc::unavailable, address + ": nobody is called here");
  }
  tenon::Result<std::unique_ptr<tenon::Listener>> listen(const std::string& address, tenon::Executor&) const override {
    auto listener = std::make_unique<OpenListener>(address);
    if (!listener->bound()) return tenon::Error(tenon::Errc::unavailable, address + ": " + std::strerror(errno));
    return std::unique_ptr<tenon::Listener>(std::move(listener));
  }
};

}  // namespace

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "test-open-door",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Transport, OpenTransport>("tcp"); },
};
