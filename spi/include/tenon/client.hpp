#pragma once
// Typed calls. A generated client, and a client of plain functions, is a handful of ClientMethod members.
//
//   auto a = greeter.SayHello(request);                            // sync: Result<HelloReply>
//   auto b = co_await greeter.SayHello(request, tenon::use_task);  // coroutine
//   greeter.SayHello(request, [](tenon::Result<HelloReply> r) {}); // callback; any Asio completion token works
//   greeter.SayHello(request, {.timeout = 50ms}, token);           // with options
//   greeter.SayHello(request, reply);                              // into an object that is used again and again
//   for (auto& [instance, answer] : *greeter.SayHello.each(request)) // at every instance at once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/describe.hpp"
#include "tenon/reference.hpp"

namespace tenon {

/// Completion token: the call as a Task.
struct use_task_t {};
inline constexpr use_task_t use_task{};

namespace detail {

template <class T>
concept Token = !std::is_same_v<std::remove_cvref_t<T>, use_task_t> &&
                !std::is_convertible_v<std::remove_cvref_t<T>, CallOptions>;

/// A call whose request, reply and handler live on the heap until it completes.
template <class In, class Out, class Handler>
class CallbackCall {
 public:
  static void run(std::shared_ptr<Reference> reference, const Target& target, In in, const CallOptions& options,
                  Handler handler) {
    auto* self = new CallbackCall(std::move(reference), target, std::move(in), options, std::move(handler));
    if (self->call_.start([](void* p) noexcept { static_cast<CallbackCall*>(p)->complete(); }, self)) self->complete();
  }

 private:
  CallbackCall(std::shared_ptr<Reference> reference, const Target& target, In in, const CallOptions& options,
               Handler handler)
      : reference_(std::move(reference)),
        in_(std::move(in)),
        handler_(std::move(handler)),
        call_(*reference_, target, &in_, &out_, options) {}

  void complete() noexcept {
    // The handler runs on its own executor if it has one, else right here.
    auto executor = boost::asio::get_associated_executor(handler_, boost::asio::system_executor());
    Result<Out> result = call_.error() ? Result<Out>(std::move(call_.error())) : Result<Out>(std::move(out_));
    Handler handler = std::move(handler_);
    delete this;
    auto finish = [handler = std::move(handler), result = std::move(result)]() mutable {
      std::move(handler)(std::move(result));
    };
    boost::asio::dispatch(executor, std::move(finish));
  }

  std::shared_ptr<Reference> reference_;
  In in_;
  Out out_{};
  Handler handler_;
  OutgoingCall call_;
};

template <class In, class Out>
Task<Result<Out>> call_task(Reference& reference, const Target& target, const In& in, CallOptions options) {
  Out out{};
  OutgoingCall call(reference, target, &in, &out, options);
  co_await call;
  if (call.error()) co_return std::move(call.error());
  co_return std::move(out);
}

/// Without a reply object of its own and without options to keep: the leanest form.
TENON_SPI Task<Result<void>> call_into(Reference& reference, const Target& target, const void* in, void* out);
TENON_SPI Task<Result<void>> call_into(Reference& reference, const Target& target, const void* in, void* out,
                                       CallOptions options);

/// To every instance, blocking and not. Fails with: unimplemented (not unary), would_deadlock, cancelled.
TENON_SPI Result<Broadcast> broadcast(Reference& reference, const Target& target, const void* in,
                                      const CallOptions& options);
TENON_SPI Task<Result<Broadcast>> broadcast_task(Reference& reference, const Target& target, const void* in,
                                                 CallOptions options);

}  // namespace detail

/// What one instance made of a call that went to all of them.
template <class Out>
struct InstanceAnswer {
  InstanceAnswer(std::string i, Result<Out> a) : instance(std::move(i)), answer(std::move(a)) {}
  std::string instance;  ///< its id
  Result<Out> answer;
};

/// One method of a client, callable in every form. Copyable; valid while its reference lives.
/// Threads: any. In the sync form the calling thread blocks (would_deadlock on an io thread).
/// Ownership: sync and coroutine forms borrow the request until the call completes (so a coroutine must name it);
/// token forms copy it. An invalid client (its bind() failed) answers that error.
template <class In, class Out>
class ClientMethod {
 public:
  ClientMethod(std::shared_ptr<Reference> reference, const Method& method)
      : reference_(std::move(reference)), target_(reference_->bind(method)) {}

  /// Whether the method could be bound; the error otherwise.
  const Result<const Target*>& bound() const noexcept { return target_; }

  // Sync.
  Result<Out> operator()(const In& in, const CallOptions& options = {}) const {
    Out out{};
    Result<void> done = run(in, out, options);
    if (!done.ok()) return std::move(done).error();
    return Result<Out>(std::move(out));
  }
  /// The reply goes into `out`, whose memory is used again.
  Result<void> operator()(const In& in, Out& out, const CallOptions& options = {}) const {
    return run(in, out, options);
  }

  // Coroutine.
  Task<Result<Out>> operator()(const In& in, use_task_t) const { return task(in, CallOptions()); }
  Task<Result<Out>> operator()(const In& in, const CallOptions& options, use_task_t) const { return task(in, options); }
  Task<Result<void>> operator()(const In& in, Out& out, use_task_t) const {
    if (!target_.ok()) return ready<Result<void>>(target_.error());
    return detail::call_into(*reference_, **target_, &in, &out);
  }
  Task<Result<void>> operator()(const In& in, Out& out, const CallOptions& options, use_task_t) const {
    if (!target_.ok()) return ready<Result<void>>(target_.error());
    return detail::call_into(*reference_, **target_, &in, &out, options);
  }
  /// Give the request a name first: a task borrows it, and g++ 12 corrupts temporaries inside co_await.
  void operator()(In&& in, use_task_t) const = delete;
  void operator()(In&& in, const CallOptions& options, use_task_t) const = delete;

  // At every instance at once, whatever routing rules say: an answer or an error of each. Filters around calls and
  // retries have no part in it, those around attempts do. Unary methods only. Empty: no instance is known.
  Result<std::vector<InstanceAnswer<Out>>> each(const In& in, const CallOptions& options = {}) const {
    if (!target_.ok()) return target_.error();
    return answers(detail::broadcast(*reference_, **target_, &in, options));
  }
  Task<Result<std::vector<InstanceAnswer<Out>>>> each(const In& in, CallOptions options, use_task_t) const {
    if (!target_.ok()) co_return target_.error();
    auto asked = detail::broadcast_task(*reference_, **target_, &in, std::move(options));
    co_return answers(co_await asked);
  }
  void each(In&& in, CallOptions options, use_task_t) const = delete;

  // Callback, future, awaitable: any Asio completion token for void(Result<Out>).
  template <detail::Token Token>
  auto operator()(const In& in, Token&& token) const {
    return initiate(in, CallOptions(), std::forward<Token>(token));
  }
  template <detail::Token Token>
  auto operator()(const In& in, const CallOptions& options, Token&& token) const {
    return initiate(in, options, std::forward<Token>(token));
  }

 private:
  Result<std::vector<InstanceAnswer<Out>>> answers(Result<Broadcast> broadcast) const {
    if (!broadcast.ok()) return std::move(broadcast).error();
    std::vector<InstanceAnswer<Out>> all;
    for (std::size_t i = 0; i < broadcast->results.size(); ++i) {
      Result<Response>& result = broadcast->results[i];
      Out out{};
      Result<void> taken;
      if (!result.ok())
        taken = std::move(result).error();
      else
        taken = result->payload.take_into(*(*target_)->method->output, &out);
      all.emplace_back(std::move(broadcast->instances[i]),
                       taken.ok() ? Result<Out>(std::move(out)) : Result<Out>(std::move(taken).error()));
    }
    return all;
  }
  Result<void> run(const In& in, Out& out, const CallOptions& options) const {
    if (!target_.ok()) return target_.error();
    OutgoingCall call(*reference_, **target_, &in, &out, options);
    Result<void> done = reference_->run(call.startable());
    if (!done.ok()) return done;
    if (call.error()) return std::move(call.error());
    return {};
  }
  Task<Result<Out>> task(const In& in, const CallOptions& options) const {
    if (!target_.ok()) return ready<Result<Out>>(target_.error());
    return detail::call_task<In, Out>(*reference_, **target_, in, options);
  }
  template <class Token>
  auto initiate(const In& in, const CallOptions& options, Token&& token) const {
    auto begin = [this](auto handler, In request, CallOptions chosen) {
      using Handler = decltype(handler);
      if (!target_.ok()) {
        Error error = target_.error();
        auto executor = boost::asio::get_associated_executor(handler, boost::asio::system_executor());
        auto refuse = [handler = std::move(handler), error = std::move(error)]() mutable {
          std::move(handler)(Result<Out>(std::move(error)));
        };
        boost::asio::dispatch(executor, std::move(refuse));
        return;
      }
      detail::CallbackCall<In, Out, Handler>::run(reference_, **target_, std::move(request), chosen,
                                                  std::move(handler));
    };
    return boost::asio::async_initiate<Token, void(Result<Out>)>(std::move(begin), token, in, options);
  }

  std::shared_ptr<Reference> reference_;
  Result<const Target*> target_;
};

}  // namespace tenon
