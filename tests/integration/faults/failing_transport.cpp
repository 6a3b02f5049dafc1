#include "failing_transport.hpp"

#include <cerrno>
#include <string>
#include <utility>

#include "tcp_transport.hpp"

namespace tenon::test {
namespace {

using How = IoPlan::How;
using Plan = std::shared_ptr<IoPlan>;
using Stream = std::unique_ptr<ByteStream>;

class FailingStream final : public ByteStream {
 public:
  FailingStream(Stream inner, Plan plan) : inner_(std::move(inner)), plan_(std::move(plan)) {}

  IoResult try_read(char* into, std::size_t size) noexcept override {
    const How how = broken_ ? How::fail : plan_->next();
    switch (how) {
      case How::never: return inner_->try_read(into, size);
      case How::fail: return broken();
      case How::end: broken_ = true; return {IoResult::Status::end};
      case How::brief: return briefly() ? IoResult{IoResult::Status::would_block} : inner_->try_read(into, 1);
    }
    return broken();
  }
  IoResult try_write(std::span<const std::string_view> parts) noexcept override {
    const How how = broken_ ? How::fail : plan_->next();
    if (how == How::never) return inner_->try_write(parts);
    if (how != How::brief) return broken();
    if (briefly()) return {IoResult::Status::would_block};
    for (const std::string_view part : parts) {
      if (part.empty()) continue;
      const std::string_view first = part.substr(0, 1);
      return inner_->try_write({&first, 1});
    }
    return inner_->try_write(parts);
  }
  void wait_readable(Completion done) noexcept override { inner_->wait_readable(done); }
  void wait_writable(Completion done) noexcept override { inner_->wait_writable(done); }
  void finish() noexcept override { inner_->finish(); }
  const PeerInfo& info() const noexcept override { return inner_->info(); }
  std::string_view negotiated() const noexcept override { return inner_->negotiated(); }

 private:
  IoResult broken() noexcept {
    broken_ = true;
    return {IoResult::Status::failed, 0, ECONNRESET};
  }
  // One byte, or none: both happen, depending on where the plan's number falls.
  bool briefly() const noexcept { return plan_->seen() % 2 == 0; }

  const Stream inner_;
  const Plan plan_;
  bool broken_ = false;
};

class FailingListener final : public Listener {
 public:
  FailingListener(std::unique_ptr<Listener> inner, Plan plan) : inner_(std::move(inner)), plan_(std::move(plan)) {}

  Task<Result<Stream>> accept(Executor& home) override { return accept(*inner_, plan_, home); }
  void close() noexcept override { inner_->close(); }
  const std::string& address() const noexcept override { return inner_->address(); }

 private:
  static Task<Result<Stream>> accept(Listener& inner, Plan plan, Executor& home) {
    while (true) {
      auto accepting = inner.accept(home);
      Result<Stream> stream = co_await accepting;
      if (!stream.ok()) co_return std::move(stream);
      const How how = plan->next();
      if (how == How::never || how == How::brief)
        co_return Result<Stream>(std::make_unique<FailingStream>(std::move(*stream), std::move(plan)));
      // It is dropped, as when the peer had gone before it was accepted.
    }
  }

  const std::unique_ptr<Listener> inner_;
  const Plan plan_;
};

class FailingTransport final : public Transport {
 public:
  using Options = FailingOptions;
  static Result<std::unique_ptr<FailingTransport>> create(Options options, Environment environment) {
    tcp::TcpOptions cramped;  // small buffers: bodies take several reads and writes
    cramped.send_buffer = ByteSize(4096);
    cramped.receive_buffer = ByteSize(4096);
    auto inner = tcp::TcpTransport::create(cramped, environment);
    if (!inner.ok()) return std::move(inner).error();
    return std::make_unique<FailingTransport>(std::move(*inner), std::move(options.plan));
  }
  FailingTransport(std::unique_ptr<Transport> inner, Plan plan) : inner_(std::move(inner)), plan_(std::move(plan)) {}

  Result<void> check(std::string_view address) const override { return inner_->check(address); }
  Task<Result<Stream>> connect(const std::string& address, Executor& home, TimePoint deadline) const override {
    return connect(*inner_, plan_, address, home, deadline);
  }
  Result<std::unique_ptr<Listener>> listen(const std::string& address, Executor& home) const override {
    auto listener = inner_->listen(address, home);
    if (!listener.ok()) return std::move(listener).error();
    return Result<std::unique_ptr<Listener>>(std::make_unique<FailingListener>(std::move(*listener), plan_));
  }

 private:
  static Task<Result<Stream>> connect(const Transport& inner, Plan plan, std::string address, Executor& home,
                                      TimePoint deadline) {
    const How how = plan->next();
    if (how == How::fail || how == How::end)
      co_return Error(Errc::unavailable, address + ": connection refused (on purpose)", Delivery::not_run);
    auto connecting = inner.connect(address, home, deadline);
    Result<Stream> stream = co_await connecting;
    if (!stream.ok()) co_return std::move(stream);
    co_return Result<Stream>(std::make_unique<FailingStream>(std::move(*stream), std::move(plan)));
  }

  const std::unique_ptr<Transport> inner_;
  const Plan plan_;
};

}  // namespace

constinit const Plugin failing_plugin{
    .name = "transport-failing",
    .version = "1.0.0",
    .install = [](Catalog& catalog) { catalog.add<Transport, FailingTransport>("failing"); },
};

}  // namespace tenon::test
