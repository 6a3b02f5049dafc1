#pragma once
// Calls the methods of a Service without a server in between, on an executor that the test drives.

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "manual_executor.hpp"
#include "tenon/describe.hpp"
#include "tenon/service.hpp"

namespace tenon::test {

/// A request and all that comes with it, as core would make them.
/// Ownership: outlives what is started with it.
struct PreparedCall {
  /// REQUIRES: there is such a method.
  PreparedCall(Service& service, std::string_view method, Executor& executor, std::string from = "10.0.0.9:5000")
      : request(target) {
    name.interface = service.interface();
    for (const Method& each : service.methods()) {
      if (each.name == method) target.method = &each;
      if (!target.method) ++target.index;
    }
    if (!target.method) throw std::invalid_argument("no method " + std::string(method));
    target.service = &name;
    peer.peer = std::move(from);
    info.side = Side::server;
    info.peer = &peer;
    info.target = &target;
    info.headers = &request.headers;
    info.reply = &extras;
    info.cancel = request.cancel = &cancellation;
    info.executor = &executor;
    request.info = &info;
  }
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;

  ServiceName name;
  Target target;
  PeerInfo peer;
  ReplyExtras extras;
  Cancellation cancellation;
  CallInfo info;
  Request request;
};

/// One call, from its request to its end. Its messages are taken one by one.
/// Ownership: outlives what it started: end() it first.
class DirectCall {
 public:
  DirectCall(Service& service, std::string_view method, ManualExecutor& executor)
      : executor_(executor), service_(service), call_(service, method, executor) {}
  DirectCall(const DirectCall&) = delete;
  DirectCall& operator=(const DirectCall&) = delete;

  Request& request() noexcept { return call_.request; }
  const Method& method() const noexcept { return *call_.target.method; }

  /// Starts it. The payload must be there; what it borrows must live until this returns.
  void start() {
    task_ = service_.call(call_.request);
    auto done = [](void* self) { static_cast<DirectCall*>(self)->answered(); };
    if (task_.start(done, this)) answered();
  }
  bool answered_yet() const noexcept { return answer_.has_value(); }
  /// REQUIRES: answered_yet().
  Result<Response>& answer() noexcept { return *answer_; }

  /// Asks for the next message of the stream, unless one is asked for or not taken yet, or it is over.
  void ask() {
    if (asking_ || message_ || over_ || !answered_yet() || !answer_->ok() || !(*answer_)->messages) return;
    asking_ = true;
    next_ = (*answer_)->messages->next();
    auto done = [](void* self) { static_cast<DirectCall*>(self)->arrived(); };
    if (next_.start(done, this)) arrived();
  }
  /// The last message that arrived, as a T; nothing: none since the last call.
  template <class T>
  std::optional<T> take() {
    if (!message_) return std::nullopt;
    auto value = message_->payload.get(message_type<T>());
    std::optional<T> taken;
    if (value.ok()) taken = *static_cast<const T*>(*value);
    message_.reset();
    return taken;
  }
  bool asking() const noexcept { return asking_; }
  /// The stream has ended, or the call has failed.
  bool over() const noexcept { return over_ || (answer_ && !answer_->ok()); }
  /// How; no error: well.
  Error why() const { return answer_ && !answer_->ok() ? answer_->error() : why_; }

  /// The caller gives it up, and takes the rest.
  void end() {
    call_.cancellation.cancel();
    executor_.run();
    while (answered_yet() && answer_->ok() && (*answer_)->messages && !over_) {
      message_.reset();
      ask();
      executor_.run();
      if (asking_) throw std::logic_error("a handler does not listen to its cancellation");
    }
  }

 private:
  void answered() { answer_ = task_.take(); }
  void arrived() {
    Result<std::optional<StreamMessage>> message = next_.take();
    asking_ = false;
    next_ = {};
    if (message.ok() && *message) {
      message_ = std::move(**message);
      return;
    }
    over_ = true;
    if (!message.ok()) why_ = std::move(message).error();
  }

  ManualExecutor& executor_;
  Service& service_;
  PreparedCall call_;
  Task<Result<Response>> task_;
  std::optional<Result<Response>> answer_;
  Task<Result<std::optional<StreamMessage>>> next_;
  std::optional<StreamMessage> message_;
  bool asking_ = false;
  bool over_ = false;
  Error why_;
};

/// A unary call to its end.
template <class Out, class... A>
Result<Out> call_directly(Service& service, ManualExecutor& executor, std::string_view method, const A&... arguments) {
  DirectCall call(service, method, executor);
  const Arguments<A...> in{{arguments...}};
  call.request().payload = Payload::borrow(message_type<Arguments<A...>>(), &in);
  call.start();
  if (!executor.run_until([&] { return call.answered_yet(); })) throw std::logic_error("the call does not end");
  if (!call.answer().ok()) return call.answer().error();
  auto value = call.answer()->payload.get(message_type<Bare<Out>>());
  if (!value.ok()) return std::move(value).error();
  return static_cast<const Bare<Out>*>(*value)->value;
}

}  // namespace tenon::test
