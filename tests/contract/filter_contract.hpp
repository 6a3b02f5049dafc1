#pragma once
// What every Filter that lets a call pass must do. Used with
//   INSTANTIATE_TEST_SUITE_P(AccessLog, FilterContract, testing::Values(FilterCase{"access-log", make}), …);
// `prepare` gives the request what the filter wants to see (a token, …). For one source file of each test program.

#include <gtest/gtest.h>

#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/describe.hpp"
#include "tenon/filter.hpp"

namespace tenon::test {

struct FilterCase {
  std::string name;
  std::function<std::unique_ptr<Filter>()> make;
  std::function<void(Request&)> prepare = [](Request&) {};
};

/// What stands behind the filter: answers as the test says, at once or when it is told to.
class FilteredInvoker final : public Invoker {
 public:
  Task<Result<Response>> call(Request& request) override {
    ++calls;
    target = request.target;
    if (suspend) co_await Suspension{*this};
    if (error) co_return *error;
    Response response;
    response.headers.set("answered", "yes");
    response.messages = std::move(messages);
    co_return std::move(response);
  }
  Health health() const noexcept override { return Health::open; }
  void go_on() { std::exchange(waiting, {}).resume(); }

  struct Suspension {
    FilteredInvoker& invoker;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) const noexcept { invoker.waiting = caller; }
    void await_resume() const noexcept {}
  };
  int calls = 0;
  bool suspend = false;
  const Target* target = nullptr;
  std::optional<Error> error;
  std::unique_ptr<Messages> messages;
  std::coroutine_handle<> waiting;
};

/// Three messages, then the end.
class ThreeMessages final : public Messages {
 public:
  Task<Result<std::optional<StreamMessage>>> next() override {
    Result<std::optional<StreamMessage>> result = std::optional<StreamMessage>();
    if (given_ < 3) {
      number_.value = ++given_;
      result->emplace().payload = Payload::borrow(message_type<Bare<std::int64_t>>(), &number_);
    }
    return ready(std::move(result));
  }
  Headers& trailers() noexcept override { return trailers_; }

 private:
  std::int64_t given_ = 0;
  Bare<std::int64_t> number_;
  Headers trailers_{{"seen", "all"}};
};

class FilterContract : public testing::TestWithParam<FilterCase> {
 protected:
  void SetUp() override {
    filter_ = GetParam().make();
    method_ = Method{"call", Shape::unary, &message_type<Void>(), &message_type<Void>(), false};
    service_.interface = "test.Filtered";
    target_.service = &service_;
    target_.method = &method_;
    info_.target = &target_;
    info_.cancel = &cancellation_;
  }
  Request request() {
    Request made(target_);
    made.payload = Payload::borrow(message_type<Void>(), &nothing_);
    made.info = &info_;
    made.cancel = &cancellation_;
    GetParam().prepare(made);
    info_.headers = &made.headers;
    return made;
  }
  Result<Response> pass(Request& asked) {
    Task<Result<Response>> task = filter_->apply(asked, next_);
    bool ended = false;
    const auto done = [](void* flag) { *static_cast<bool*>(flag) = true; };
    if (!task.start(done, &ended)) {
      if (next_.waiting) next_.go_on();
      EXPECT_TRUE(ended) << "the filter did not end with the call behind it";
    }
    return task.take();
  }
  Void nothing_;
  Method method_;
  ServiceName service_;
  Target target_;
  Cancellation cancellation_;
  CallInfo info_;
  FilteredInvoker next_;
  std::unique_ptr<Filter> filter_;
};

TEST_P(FilterContract, LetsACallPassOnce) {
  for (const bool suspend : {false, true}) {
    next_.calls = 0;
    next_.suspend = suspend;
    Request asked = request();
    info_.headers = &asked.headers;
    Result<Response> answer = pass(asked);
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(next_.calls, 1);
    EXPECT_EQ(next_.target, &target_);
    ASSERT_TRUE(answer->headers.find("answered"));
  }
}

TEST_P(FilterContract, HandsErrorsOnAsTheyAre) {
  for (const bool suspend : {false, true}) {
    next_.suspend = suspend;
    next_.error = Error(Errc::unavailable, "it is down", Delivery::maybe_run, Advice::other_instance);
    Request asked = request();
    info_.headers = &asked.headers;
    Result<Response> answer = pass(asked);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code(), Errc::unavailable);
    EXPECT_EQ(answer.error().delivery(), Delivery::maybe_run);
    EXPECT_EQ(answer.error().advice(), Advice::other_instance);
  }
}

TEST_P(FilterContract, LetsStreamsPass) {
  method_.shape = Shape::server_stream;
  next_.messages = std::make_unique<ThreeMessages>();
  Request asked = request();
  info_.headers = &asked.headers;
  Result<Response> answer = pass(asked);
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  ASSERT_TRUE(answer->messages);
  for (std::int64_t i = 1; i <= 4; ++i) {
    Task<Result<std::optional<StreamMessage>>> asking = answer->messages->next();
    ASSERT_TRUE(asking.start([](void*) {}, nullptr));
    Result<std::optional<StreamMessage>> message = asking.take();
    ASSERT_TRUE(message.ok());
    ASSERT_EQ(message->has_value(), i < 4);
    if (i == 4) break;
    Bare<std::int64_t> number;
    ASSERT_TRUE((*message)->payload.take_into(message_type<Bare<std::int64_t>>(), &number).ok());
    EXPECT_EQ(number.value, i);
  }
  EXPECT_TRUE(answer->messages->trailers().find("seen"));
}

TEST_P(FilterContract, ServesCallsInTurnWithoutRememberingWhatItShouldNot) {
  for (int i = 0; i < 100; ++i) {
    if (i % 2)
      next_.error.reset();
    else
      next_.error = Error(Errc::internal, "odd");
    Request asked = request();
    info_.headers = &asked.headers;
    EXPECT_EQ(pass(asked).ok(), i % 2 == 1) << i;
  }
  EXPECT_EQ(next_.calls, 100);
}

}  // namespace tenon::test
