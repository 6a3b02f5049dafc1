#pragma once
// A service of streams, in all the ways a handler may write and end one.

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "support/test_apps.hpp"
#include "tenon/scope.hpp"

namespace tenon::test {

struct Item {
  std::int64_t number = 0;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Item, (), (number, text))

class Items final : public Service {
 public:
  Items() : functions_("test.Items") {
    const auto count = [this](std::int64_t n, std::int64_t size, StreamWriter<Item>& out) {
      return this->count(n, size, out);
    };
    const auto slow = [this](std::int64_t ms, StreamWriter<Item>& out) { return this->slow(ms, out); };
    functions_.add_stream("count", count);
    functions_.add_stream("count_in_pool", count);
    functions_.add_stream("slow", slow);
    functions_.add_stream("slow_in_pool", slow);
    functions_.add_stream("limited", slow);
    functions_.add_stream("fail_after",
                          [this](std::int64_t n, StreamWriter<Item>& out) { return fail(n, false, out); });
    functions_.add_stream("throw_after",
                          [this](std::int64_t n, StreamWriter<Item>& out) { return fail(n, true, out); });
    functions_.add_stream("echo_attachment", [](std::int64_t n, StreamWriter<Item>& out) { return echo(n, out); });
    functions_.add("unary", [](std::int64_t n) { return n; });
  }
  std::string_view interface() const noexcept override { return functions_.interface(); }
  std::span<const Method> methods() const noexcept override { return functions_.methods(); }
  Task<Result<Response>> call(Request& request) override {
    if (request.target->method->name != "unary") return functions_.call(request);
    // Sends its attachment back; the answer is its size.
    request.info->reply->attachment = *request.info->attachment;
    auto size = [bytes = request.attachment.size()](const Arguments<std::int64_t>&,
                                                    Bare<std::int64_t>& out) -> Task<Result<void>> {
      out.value = static_cast<std::int64_t>(bytes);
      return ready(Result<void>());
    };
    return serve<Arguments<std::int64_t>, Bare<std::int64_t>>(request, size);
  }

  std::atomic<int> running = 0;
  std::atomic<std::int64_t> written = 0;

 private:
  struct Run {
    explicit Run(std::atomic<int>& count) : running(count) { ++running; }
    ~Run() { --running; }
    std::atomic<int>& running;
  };
  Task<Result<void>> count(std::int64_t n, std::int64_t size, StreamWriter<Item>& out) {
    const Run run(running);
    written = 0;
    out.call().reply->headers.set("asked", std::to_string(n));
    Item item;
    item.text = std::string(static_cast<std::size_t>(size), 'x');
    for (; item.number < n; ++item.number) {
      ++written;
      Result<void> sent = co_await out.send(item);
      if (!sent.ok()) co_return sent;
    }
    out.trailers().set("sent", std::to_string(item.number));
    co_return Result<void>();
  }
  // One message after every `ms`, until nobody wants them.
  Task<Result<void>> slow(std::int64_t ms, StreamWriter<Item>& out) {
    const Run run(running);
    Item item;
    while (true) {
      Clock& clock = out.call().executor->clock();
      sleep_until nap(clock, clock.now() + std::chrono::milliseconds(ms), out.call().cancel);
      const bool whole = co_await nap;
      if (!whole) co_return Error(Errc::cancelled, "woken early");
      Result<void> sent = co_await out.send(item);
      if (!sent.ok()) co_return sent;
      ++item.number;
    }
  }
  Task<Result<void>> fail(std::int64_t n, bool by_throwing, StreamWriter<Item>& out) {
    const Run run(running);
    const Item item;
    for (std::int64_t i = 0; i < n; ++i) {
      Result<void> sent = co_await out.send(item);
      if (!sent.ok()) co_return sent;
    }
    if (by_throwing) throw std::runtime_error("dropped it");
    co_return Error(Errc::not_found, "there are no more than " + std::to_string(n));
  }
  static Task<Result<void>> echo(std::int64_t n, StreamWriter<Item>& out) {
    const Item item;
    for (std::int64_t i = 0; i < n; ++i) {
      Attachment attachment(std::string(out.call().attachment->bytes()) + std::to_string(i));
      auto sending = out.send(item, std::move(attachment));
      Result<void> sent = co_await sending;
      if (!sent.ok()) co_return sent;
    }
    co_return Result<void>();
  }

  Functions functions_;
};

}  // namespace tenon::test
