// The raw peer of the speed gate: a closed loop of N outstanding frames. Same clock, window, histogram and output as
// `tenon bench`: two clock reads a call, at issue and at completion. See raw_epoll.hpp.

#include <sys/epoll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <deque>
#include <memory>

#include "echo.pb.h"
#include "figures.hpp"
#include "raw_epoll.hpp"

namespace bench {
namespace {

class RawLoad {
 public:
  RawLoad(RawMode mode, std::uint16_t port, Workload workload, std::size_t read_buffer)
      : mode_(mode),
        workload_(std::move(workload)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        issued_(workload_.outstanding),
        payload_(workload_.size, 'x') {
    if (epoll_.fd() < 0) die("epoll_create1");
    for (unsigned i = 0; i < workload_.connections; ++i)
      lines_.push_back(std::make_unique<Line>(Socket::connect(port), epoll_.fd(), read_buffer));
  }

  Figures run(double warmup, double seconds) {
    window_ = Window::after(warmup, seconds);
    figures_.workload = workload_;
    figures_.seconds = seconds;
    for (unsigned slot = 0; slot < workload_.outstanding; ++slot) issue(*lines_[slot % lines_.size()], slot);
    for (const auto& line : lines_) finish(line->flush());
    std::vector<epoll_event> events(1024);
    for (;;) {
      const int count = ::epoll_wait(epoll_.fd(), events.data(), static_cast<int>(events.size()), 1000);
      if (now() >= window_.close) return figures_;
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        take(line_of(event.data.ptr), event.events);
      }
    }
  }

 private:
  struct Line : RawConnection {
    using RawConnection::RawConnection;
    std::deque<std::uint32_t> in_order;  // raw mode: who waits, oldest first
  };
  static Line& line_of(void* connection) noexcept {
    return static_cast<Line&>(*static_cast<RawConnection*>(connection));
  }

  static void finish(bool good) {
    if (good) return;
    std::fprintf(stderr, "raw_epoll_client: the server closed the connection\n");
    std::exit(1);
  }

  void issue(Line& line, std::uint32_t slot) {
    issued_[slot] = now();
    if (mode_ == RawMode::protobuf) {
      request_.set_payload(payload_);
      char* out = begin_frame(line.output(), sizeof slot + request_.ByteSizeLong());
      std::memcpy(out, &slot, sizeof slot);
      request_.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out + sizeof slot));
    } else {
      std::memcpy(begin_frame(line.output(), payload_.size()), payload_.data(), payload_.size());
      line.in_order.push_back(slot);
    }
  }

  void take(Line& line, std::uint32_t events) {
    if (events & EPOLLOUT) finish(line.flush());
    if (!(events & ~std::uint32_t{EPOLLOUT})) return;
    finish(line.fill());
    line.consume(line.parse([&](const char* body, std::size_t size) { answered(line, body, size); }));
    if (line.has_output()) finish(line.flush());
  }

  void answered(Line& line, const char* body, std::size_t size) {
    std::uint32_t slot = 0;
    bool good = false;
    if (mode_ == RawMode::protobuf) {
      finish(size >= sizeof slot);
      std::memcpy(&slot, body, sizeof slot);
      finish(slot < issued_.size());
      good = response_.ParseFromArray(body + sizeof slot, static_cast<int>(size - sizeof slot)) &&
             response_.payload().size() == payload_.size();
    } else {
      finish(!line.in_order.empty());
      slot = line.in_order.front();
      line.in_order.pop_front();
      good = size == payload_.size();
    }
    const std::uint64_t ended = now();
    if (ended >= window_.open && ended < window_.close) {
      if (good)
        figures_.latency.add(ended - issued_[slot]);
      else
        ++figures_.errors;
    }
    issue(line, slot);
  }

  const RawMode mode_;
  const Workload workload_;
  Socket epoll_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<std::uint64_t> issued_;
  const std::string payload_;
  Window window_;
  Figures figures_;
  EchoRequest request_;
  EchoResponse response_;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app("Raw epoll echo client: closed loop, one JSON object on stdout.");
  std::uint16_t port = 0;
  double warmup = 0.5;
  double seconds = 2;
  std::size_t read_buffer = 64u << 10;
  bench::Workload workload;
  workload.size = 100;
  bench::RawMode mode = bench::RawMode::raw;
  const std::map<std::string, bench::RawMode> modes{{"raw", bench::RawMode::raw}, {"pb", bench::RawMode::protobuf}};
  app.add_option("--port", port, "loopback port of the server")->required();
  app.add_option("--mode", mode, "the server's: raw or pb")->transform(CLI::CheckedTransformer(modes));
  app.add_option("--size", workload.size, "payload bytes")->check(CLI::Range(0, 32 << 20));
  app.add_option("--concurrency", workload.outstanding, "frames outstanding")->check(CLI::Range(1, 1'000'000));
  app.add_option("--connections", workload.connections, "connections")->check(CLI::Range(1, 10'000));
  app.add_option("--warmup", warmup, "seconds before the measured window")->check(CLI::Range(0.0, 60.0));
  app.add_option("--seconds", seconds, "measured window")->check(CLI::Range(0.01, 3600.0));
  app.add_option("--read-buffer", read_buffer, "bytes")->check(CLI::Range(4096, 16 << 20));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  workload.peer = mode == bench::RawMode::raw ? "raw" : "raw-pb";
  workload.mode = "epoll";
  bench::RawLoad load(mode, port, workload, read_buffer);
  const bench::Figures figures = load.run(warmup, seconds);
  std::printf("%s\n", bench::to_json(figures).c_str());
  return figures.errors == 0 && figures.latency.count() > 0 ? 0 : 1;
}
