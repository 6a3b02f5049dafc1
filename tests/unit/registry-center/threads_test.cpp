// Two io threads and the control thread at once, with a store: everything that may meet does.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "center.hpp"
#include "known_clients.hpp"
#include "support/direct_calls.hpp"
#include "support/recording_log.hpp"
#include "support/test_executor.hpp"

namespace tenon::center {
namespace {

using test::PreparedCall;
using test::TestExecutor;

/// A unary call.
template <class Out, class... A>
Task<Result<Out>> ask(Service& service, Executor& executor, std::string method, A... arguments) {
  PreparedCall call(service, method, executor);
  const Arguments<A...> in{{std::move(arguments)...}};
  call.request.payload = Payload::borrow(message_type<Arguments<A...>>(), &in);
  Task<Result<Response>> task = service.call(call.request);
  Result<Response> answer = co_await task;
  if (!answer.ok()) co_return std::move(answer).error();
  Result<const void*> value = answer->payload.get(message_type<Bare<Out>>());
  if (!value.ok()) co_return std::move(value).error();
  co_return static_cast<const Bare<Out>*>(*value)->value;
}

/// Watches until instance `id` is in the list, then gives up.
Task<Result<void>> wait_for(Service& service, Executor& executor, ClientKey key, std::string id) {
  PreparedCall call(service, "watch", executor);
  const Arguments<ClientKey, ServiceName, std::string> in{{std::move(key), greeter, "shop"}};
  call.request.payload = Payload::borrow(message_type<Arguments<ClientKey, ServiceName, std::string>>(), &in);
  Task<Result<Response>> task = service.call(call.request);
  Result<Response> head = co_await task;
  if (!head.ok()) co_return std::move(head).error();
  while (true) {
    Task<Result<std::optional<StreamMessage>>> asked = head->messages->next();
    Result<std::optional<StreamMessage>> message = co_await asked;
    if (!message.ok() && call.cancellation.cancelled()) co_return Result<void>();
    if (!message.ok()) co_return std::move(message).error();
    if (!*message) co_return Error(Errc::internal, "the stream has ended");
    const auto* const list = static_cast<const List*>(*(*message)->payload.get(message_type<List>()));
    if (std::ranges::any_of(list->instances, [&](const Instance& each) { return each.id == id; }))
      call.cancellation.cancel();
  }
}

TEST(CenterOnThreads, EverythingAtOnce) {
  const auto folder = std::filesystem::temp_directory_path() / ("tenon-center-threads-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  test::RecordingLog log;
  TestExecutor control;
  TestExecutor io[2];
  CenterOptions options;
  options.lease = std::chrono::milliseconds(200);
  options.store = folder.string();
  auto made = control.call([&] { return Center::create(options, Environment{control, log, control.clock()}); });
  ASSERT_TRUE(made.ok()) << made.error().text();
  std::unique_ptr<Center> center = std::move(*made);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      TestExecutor& mine = io[t % 2];
      const std::string id = std::to_string(t);
      for (unsigned round = 0; round < 30; ++round) {
        // Silent for 200 ms on a busy machine: it comes again.
        ASSERT_TRUE(mine.run([&] { return ask<Opened>(*center, mine, "open", opening(t)); }).ok());
        const auto announced =
            mine.run([&] { return ask<Void>(*center, mine, "announce", key(t), greeter, instance(id, round)); });
        if (!announced.ok()) {
          EXPECT_EQ(announced.error().code(), Errc::not_found) << announced.error().text();
          continue;
        }
        const auto seen = mine.run([&] { return wait_for(*center, mine, key(t), id); });
        EXPECT_TRUE(seen.ok() || seen.error().code() == Errc::not_found) << seen.error().text();
        const auto set = mine.run([&] { return ask<Void>(*center, mine, "set_weight", greeter, id, 1000u + round); });
        EXPECT_TRUE(set.ok() || set.error().code() == Errc::not_found) << set.error().text();
        const auto read = mine.run([&] { return ask<Document>(*center, mine, "read", std::string("rule"), id); });
        ASSERT_TRUE(read.ok()) << read.error().text();
        const Document next{"rule", id, std::to_string(round), read->version};
        EXPECT_TRUE(mine.run([&] { return ask<Void>(*center, mine, "write", next); }).ok());
        if (round % 3 == 0) (void)mine.run([&] { return ask<Void>(*center, mine, "withdraw", key(t), greeter, id); });
        if (round % 5 == 0) (void)mine.run([&] { return ask<Void>(*center, mine, "close", key(t)); });
      }
    });
  for (std::thread& thread : threads) thread.join();
  const auto empty = [&] {
    const auto state = io[0].run([&] { return ask<State>(*center, io[0], "state"); });
    return state.ok() && state->instances == 0 && state->clients == 0 && state->subscriptions == 0;
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!empty() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(empty());
  EXPECT_EQ(io[0].run([&] { return ask<State>(*center, io[0], "state"); })->documents, 4u);
  center.reset();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tenon::center
