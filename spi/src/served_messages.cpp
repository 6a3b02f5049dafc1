#include "tenon/serve_stream.hpp"

namespace tenon {

// The handler runs inside whoever asks for its next message, as long as it does not wait for anything else. When it
// did wait, it is the one that wakes the asker, from inside send(); the asker may then ask again and so let the handler
// go on, below itself on the stack, until it waits or writes: no deeper, because that message finds nobody suspended.

ServedMessages::~ServedMessages() = default;

/// Awaited by who asks: until a message is there, or the end.
class ServedMessages::Advance {
 public:
  explicit Advance(ServedMessages& messages) noexcept : messages_(messages) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> asker) {
    messages_.go_on();
    if (messages_.value_ || messages_.ended_) return false;
    messages_.asker_ = asker;
    return true;
  }
  void await_resume() const noexcept {}

 private:
  ServedMessages& messages_;
};

void ServedMessages::go_on() {
  value_ = nullptr;
  if (writer_) {
    std::exchange(writer_, {}).resume();
  } else if (!handler_) {
    handler_ = handler();
    auto done = [](void* self) {
      auto* messages = static_cast<ServedMessages*>(self);
      messages->ended();
      messages->asked_for();
    };
    if (handler_.start(done, this)) ended();
  }
}

void ServedMessages::ended() noexcept {
  ended_ = true;
  try {
    result_ = handler_.take();
  } catch (const std::exception& e) {
    result_ = Error(Errc::internal, std::string("the handler threw: ") + e.what(), Delivery::ran);
  } catch (...) {
    result_ = Error(Errc::internal, "the handler threw something that is not a std::exception", Delivery::ran);
  }
}

void ServedMessages::asked_for() {
  if (asker_) std::exchange(asker_, {}).resume();
}

void ServedMessages::Send::await_suspend(std::coroutine_handle<> writer) noexcept {
  ServedMessages& messages = messages_;
  messages.writer_ = writer;
  messages.value_ = value_;
  messages.attachment_ = std::move(attachment_);
  messages.asked_for();  // may end in this coroutine going on, and ending
}

Result<void> ServedMessages::Send::await_resume() const {
  if (!messages_.given_up()) return {};
  return Error(Errc::cancelled, "the caller does not want the rest of the stream", Delivery::ran, Advice::never);
}

Task<Result<void>> ServedMessages::begin(const Request& request) {
  request_ = &request;
  Advance advance(*this);
  co_await advance;
  first_ = true;
  if (ended_ && !value_ && !result_.ok()) co_return std::move(result_);
  co_return Result<void>();
}

Task<Result<std::optional<StreamMessage>>> ServedMessages::next() {
  if (!std::exchange(first_, false)) {
    if (!ended_) {
      Advance advance(*this);
      co_await advance;
    }
  }
  Result<std::optional<StreamMessage>> next = std::optional<StreamMessage>();
  if (value_) {
    StreamMessage& message = next->emplace();
    message.payload = Payload::borrow(output_, value_);
    message.attachment = std::move(attachment_);
  } else if (!result_.ok()) {
    next = std::move(result_).error().deliver(Delivery::ran);
  }
  co_return std::move(next);
}

namespace detail {

Task<Result<Response>> begin_stream(std::unique_ptr<ServedMessages> messages, const Request& request) {
  Task<Result<void>> begun = messages->begin(request);
  Result<void> first = co_await begun;
  if (!first.ok()) co_return std::move(first).error().deliver(Delivery::ran);
  Response response;
  add_extras(request, response);
  response.messages = std::move(messages);
  co_return std::move(response);
}

}  // namespace detail

}  // namespace tenon
