// The raw peer of the speed gate: echoes frames, as they are or through protobuf. See raw_epoll.hpp.

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <unordered_map>

#include "echo.pb.h"
#include "raw_epoll.hpp"

namespace bench {
namespace {

class RawServer {
 public:
  RawServer(RawMode mode, std::uint16_t port, std::size_t read_buffer)
      : mode_(mode),
        read_buffer_(read_buffer),
        listener_(Socket::listen(port)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_.fd() < 0) die("epoll_create1");
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = nullptr;
    if (::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, listener_.fd(), &event) != 0) die("epoll_ctl");
  }

  std::uint16_t port() const { return listener_.local_port(); }

  [[noreturn]] void run() {
    std::vector<epoll_event> events(1024);
    for (;;) {
      const int count = ::epoll_wait(epoll_.fd(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        auto* connection = static_cast<RawConnection*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (!connection) {
          accept();
        } else if (!serve(*connection, events[static_cast<std::size_t>(i)].events)) {
          connections_.erase(connection);
        }
      }
    }
  }

 private:
  void accept() {
    Socket socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.fd() < 0) return;
    auto connection = std::make_unique<RawConnection>(std::move(socket), epoll_.fd(), read_buffer_);
    RawConnection* key = connection.get();
    connections_.emplace(key, std::move(connection));
  }

  bool serve(RawConnection& connection, std::uint32_t events) {
    if ((events & EPOLLOUT) && !connection.flush()) return false;
    if (!(events & ~std::uint32_t{EPOLLOUT})) return true;
    if (!connection.fill()) return false;
    if (mode_ == RawMode::raw) {
      const std::size_t taken = connection.parse([](const char*, std::size_t) {});
      if (taken > 0) connection.send_now(connection.input(), taken);
      connection.consume(taken);
    } else {
      bool good = true;
      const std::size_t taken =
          connection.parse([&](const char* body, std::size_t size) { good = good && answer(connection, body, size); });
      if (!good) return false;
      connection.consume(taken);
    }
    return !connection.has_output() || connection.flush();
  }

  bool answer(RawConnection& connection, const char* body, std::size_t size) {
    if (size < sizeof(std::uint32_t)) return false;
    const auto message = static_cast<int>(size - sizeof(std::uint32_t));
    if (!request_.ParseFromArray(body + sizeof(std::uint32_t), message)) return false;
    response_.set_payload(request_.payload());
    char* out = begin_frame(connection.output(), sizeof(std::uint32_t) + response_.ByteSizeLong());
    std::memcpy(out, body, sizeof(std::uint32_t));
    response_.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out + sizeof(std::uint32_t)));
    return true;
  }

  const RawMode mode_;
  const std::size_t read_buffer_;
  Socket listener_;
  Socket epoll_;
  std::unordered_map<RawConnection*, std::unique_ptr<RawConnection>> connections_;
  EchoRequest request_;
  EchoResponse response_;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app("Raw epoll echo server: one thread, frames of u32 length + body.");
  std::uint16_t port = 0;
  std::size_t read_buffer = 64u << 10;
  bench::RawMode mode = bench::RawMode::raw;
  const std::map<std::string, bench::RawMode> modes{{"raw", bench::RawMode::raw}, {"pb", bench::RawMode::protobuf}};
  app.add_option("--port", port, "loopback port; 0: any, printed on the ready line");
  app.add_option("--mode", mode, "raw, or pb: u32 call number + protobuf")->transform(CLI::CheckedTransformer(modes));
  app.add_option("--read-buffer", read_buffer, "bytes")->check(CLI::Range(4096, 16 << 20));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  bench::RawServer server(mode, port, read_buffer);
  std::printf("listening on tcp 127.0.0.1:%u\n", static_cast<unsigned>(server.port()));
  std::fflush(stdout);
  server.run();
}
