// Streams between Apps: what arrives, in which order, and how far a sender may be ahead.
#include <boost/asio/use_future.hpp>
#include <future>

#include "streams_fixture.hpp"

namespace tenon {
namespace {

using test::Item;

class Streams : public test::StreamsFixture {};
INSTANTIATE_TEST_SUITE_P(Over, Streams, testing::Values("tcp", "memory"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Streams, MessagesComeInOrderWithHeadersAndTrailers) {
  const auto count = stream<std::int64_t, std::int64_t>("count");
  for (const std::int64_t n : {0, 1, 2, 1000}) {
    Stream<Item> numbers = count(n, 10);
    expect_count(numbers, n);
    ASSERT_TRUE(numbers.headers().find("asked"));
    EXPECT_EQ(*numbers.headers().find("asked"), std::to_string(n));
    ASSERT_TRUE(numbers.trailers().find("sent"));
    EXPECT_EQ(*numbers.trailers().find("sent"), std::to_string(n));
    Item item;
    Result<bool> again = numbers.next(item);
    ASSERT_TRUE(again.ok());
    EXPECT_FALSE(*again);  // it stays at its end
  }
  expect_idle();
}

TEST_P(Streams, AreReadByCoroutinesAndCallbacks) {
  const auto count = stream<std::int64_t, std::int64_t>("count");
  const auto read = [](Stream<Item> numbers, std::promise<std::int64_t>& sum) -> Task<void> {
    Item item;
    std::int64_t total = 0;
    while (true) {
      Task<Result<bool>> asked = numbers.next(item, use_task);
      Result<bool> more = co_await asked;
      if (!more.ok() || !*more) break;
      total += item.number;
    }
    sum.set_value(total);
  };
  std::promise<std::int64_t> sum;
  Task<void> reading = read(count(100, 1), sum);
  if (!reading.start([](void*) {}, nullptr)) {
    EXPECT_EQ(sum.get_future().get(), 4950);
  }
  struct Reader {
    Stream<Item> numbers;
    std::int64_t total = 0;
    std::promise<std::int64_t> sum;
    void ask() {
      numbers.next([this](Result<std::optional<Item>> next) {
        if (!next.ok() || !*next) return sum.set_value(total);
        total += (*next)->number;
        ask();
      });
    }
  } reader{count(100, 1), 0, {}};
  reader.ask();
  EXPECT_EQ(reader.sum.get_future().get(), 4950);
  Stream<Item> numbers = count(1, 1);
  std::future<std::optional<Item>> first;
  auto future = numbers.next(boost::asio::use_future);
  Result<std::optional<Item>> next = future.get();
  ASSERT_TRUE(next.ok());
  ASSERT_TRUE(next->has_value());
  EXPECT_EQ((*next)->number, 0);
}

TEST_P(Streams, TheSenderIsNeverMoreThanTheWindowAheadOfTheReader) {
  LimitOptions limits;
  limits.stream_window = 10'000;
  restart(test::server_options(GetParam(), address()), limits);
  constexpr std::int64_t size = 1000;
  constexpr std::int64_t most = 10'000 / size + 1;
  Stream<Item> numbers = stream<std::int64_t, std::int64_t>("count")(200, size);
  Item item;
  for (std::int64_t taken = 1; taken <= 200; ++taken) {
    Result<bool> more = numbers.next(item);
    ASSERT_TRUE(more.ok() && *more);
    ASSERT_EQ(item.number, taken - 1);
    ASSERT_LE(items->written, taken + most + 1) << taken;  // + the one that the handler is about to hand over
  }
  Result<bool> end = numbers.next(item);
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(*end);
  expect_idle();
}

TEST_P(Streams, AMessageLargerThanTheWindowPasses) {
  LimitOptions limits;
  limits.stream_window = 1024;
  restart(test::server_options(GetParam(), address()), limits);
  for (const std::int64_t size : {0, 1024, 40'000, 100'000, 1'000'000}) {
    Stream<Item> numbers = stream<std::int64_t, std::int64_t>("count")(5, size);
    expect_count(numbers, 5);
  }
  expect_idle();
}

TEST_P(Streams, AttachmentsTravelBesideMessages) {
  for (const std::size_t size : {1u, 1000u, 40'000u, 300'000u}) {
    CallOptions options;
    options.attachment = Attachment(std::string(size, 'q'));
    Stream<Item> echoes = stream<std::int64_t>("echo_attachment").call(options, std::int64_t{3});
    Item item;
    for (int i = 0; i < 3; ++i) {
      Result<bool> more = echoes.next(item);
      ASSERT_TRUE(more.ok() && *more) << size;
      EXPECT_EQ(echoes.attachment().bytes(), std::string(size, 'q') + std::to_string(i));
    }
    Result<bool> end = echoes.next(item);
    ASSERT_TRUE(end.ok());
    EXPECT_FALSE(*end);
  }
  const ClientFunction<std::int64_t(std::int64_t)> unary(client->reference("r"), "unary");
  Attachment came;
  CallOptions options;
  options.attachment = Attachment(std::string(50'000, 'u'));
  options.reply_attachment = &came;
  Result<std::int64_t> answer = unary.call(options, 1);
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(*answer, 50'000);
  EXPECT_EQ(came.bytes(), std::string(50'000, 'u'));
}

TEST_P(Streams, OversizedMessagesEndTheStreamNamingMethodAndLimit) {
  LimitOptions limits;
  limits.max_frame = 10'000;
  restart(test::server_options(GetParam(), address()), limits);
  Stream<Item> numbers = stream<std::int64_t, std::int64_t>("count")(3, 20'000);
  Item item;
  Result<bool> more = numbers.next(item);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), Errc::too_large) << more.error().text();
  EXPECT_NE(more.error().text().find("test.Items.count"), std::string::npos) << more.error().text();
  EXPECT_NE(more.error().text().find("10000"), std::string::npos) << more.error().text();
  expect_idle();
}

TEST_P(Streams, ShapesThatDoNotFitAreRefused) {
  Stream<Item> unary = stream<std::int64_t>("unary")(1);
  Item item;
  Result<bool> more = unary.next(item);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), Errc::unimplemented) << more.error().text();
  EXPECT_EQ(more.error().delivery(), Delivery::not_run);
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> once(client->reference("r"), "count");
  Result<std::int64_t> answer = once(1, 1);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::unimplemented) << answer.error().text();
  expect_idle();
}

TEST_P(Streams, SynchronousReadingOnAnIoThreadIsRefused) {
  std::promise<Errc> code;
  Stream<Item> outer = stream<std::int64_t, std::int64_t>("count")(3, 1);
  outer.next([&](Result<std::optional<Item>>) {
    Stream<Item> inner = stream<std::int64_t, std::int64_t>("count")(3, 1);
    Item item;
    Result<bool> more = inner.next(item);
    code.set_value(more.ok() ? Errc::ok : more.error().code());
  });
  EXPECT_EQ(code.get_future().get(), Errc::would_deadlock);
}

TEST_P(Streams, ManyAtOnceDoNotDisturbEachOther) {
  constexpr int streams = 120;
  std::vector<Stream<Item>> open;
  const auto inline_count = stream<std::int64_t, std::int64_t>("count");
  const auto pool_count = stream<std::int64_t, std::int64_t>("count_in_pool");
  open.reserve(streams);
  for (int i = 0; i < streams; ++i) open.push_back((i % 3 ? inline_count : pool_count)(i, i * 20));
  std::vector<std::int64_t> next(streams, 0);
  int left = streams;
  Item item;
  for (std::size_t at = 0; left > 0; at = (at + 7) % streams) {
    if (next[at] < 0) continue;
    Result<bool> more = open[at].next(item);
    ASSERT_TRUE(more.ok()) << more.error().text();
    if (*more) {
      ASSERT_EQ(item.number, next[at]++);
    } else {
      ASSERT_EQ(next[at], static_cast<std::int64_t>(at));
      next[at] = -1;
      --left;
    }
  }
  expect_idle();
}

}  // namespace
}  // namespace tenon
