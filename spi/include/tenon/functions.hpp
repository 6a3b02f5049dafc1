#pragma once
// Services and clients of plain functions: no .proto, any number of arguments, bare results.
//
//   tenon::Functions service("user.UserService");
//   service.add("addUser", [&](const User& user) { return store.add(user); });          // bool
//   service.add("getUser", [&](std::int64_t uid) -> tenon::Result<UserInfo> { … });
//
//   tenon::ClientFunction<bool(std::int64_t, User)> update_user{reference, "updateUser"};
//   tenon::Result<bool> done = update_user(7, user);
//
// Streams: Functions::add_stream() and ClientStreamFunction.

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/serve_stream.hpp"
#include "tenon/stream.hpp"

namespace tenon {

namespace detail {

template <class R>
struct Returned {
  using type = R;
};
template <class R>
struct Returned<Result<R>> : Returned<R> {};
template <class R>
struct Returned<Task<R>> : Returned<R> {};
template <>
struct Returned<void> {
  using type = Void;
};
/// What a function answers on the wire: Task, Result and void peeled off.
template <class R>
using Answer = typename Returned<std::remove_cvref_t<R>>::type;

template <class R>
Result<R> as_result(Result<R> result) {
  return result;
}
template <class R>
Result<R> as_result(R value) {
  return Result<R>(std::move(value));
}
inline Result<Void> as_result(Result<void> result) {
  if (!result.ok()) return std::move(result).error();
  return Void{};
}

template <class T>
struct IsTask : std::false_type {};
template <class T>
struct IsTask<Task<T>> : std::true_type {};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using result = R;
  using arguments = Arguments<std::remove_cvref_t<A>...>;
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};

/// A stream function's parts: its arguments, then what it writes to.
template <class F>
struct StreamSignature : StreamSignature<decltype(&F::operator())> {};
template <class... P>
struct StreamParameters {
  static constexpr std::size_t count = sizeof...(P) - 1;
  using all = std::tuple<P...>;
  template <std::size_t... I>
  static Arguments<std::remove_cvref_t<std::tuple_element_t<I, all>>...> arguments(std::index_sequence<I...>);
};
template <class W>
struct Written;
template <class T>
struct Written<StreamWriter<T>&> {
  using type = T;
};
template <class... P>
struct StreamSignature<Task<Result<void>> (*)(P...)> {
  using parameters = StreamParameters<P...>;
  using arguments = decltype(parameters::arguments(std::make_index_sequence<parameters::count>()));
  using message = typename Written<std::tuple_element_t<parameters::count, std::tuple<P...>>>::type;
};
template <class C, class... P>
struct StreamSignature<Task<Result<void>> (C::*)(P...) const> : StreamSignature<Task<Result<void>> (*)(P...)> {};
template <class C, class... P>
struct StreamSignature<Task<Result<void>> (C::*)(P...)> : StreamSignature<Task<Result<void>> (*)(P...)> {};

/// Runs `function` on the decoded arguments and puts its answer into `out`.
template <class F, class Args, class Out>
Task<Result<void>> apply_function(const F& function, const Args& arguments, Bare<Out>& out) {
  using Returns = typename Signature<F>::result;
  if constexpr (IsTask<Returns>::value) {
    Returns task = std::apply(function, arguments.values);
    auto answer = as_result(co_await task);
    if (!answer.ok()) co_return std::move(answer).error();
    out.value = std::move(*answer);
  } else if constexpr (std::is_void_v<Returns>) {
    std::apply(function, arguments.values);
  } else {
    auto answer = as_result(std::apply(function, arguments.values));
    if (!answer.ok()) co_return std::move(answer).error();
    out.value = std::move(*answer);
  }
  co_return Result<void>();
}

}  // namespace detail

/// A service made of plain functions. Arguments and results are described structs, numbers, strings, lists, maps,
/// optionals. A function may return R, Result<R>, Task<Result<R>> or void; it runs on the connection's thread, or
/// in the pool that the manifest gives it.
/// Threads: add() before the service is provided; functions are called concurrently from all those threads.
class TENON_SPI Functions final : public Service {
 public:
  explicit Functions(std::string interface);
  ~Functions() override;

  /// REQUIRES: `name` is new in this service.
  template <class F>
  Functions& add(std::string_view name, F function, bool idempotent = false) {
    using Args = typename detail::Signature<F>::arguments;
    using Out = detail::Answer<typename detail::Signature<F>::result>;
    struct Bound final : Function {
      explicit Bound(F f) : function(std::move(f)) {}
      Task<Result<Response>> call(Request& request) override {
        auto run = [this](const Args& in, Bare<Out>& out) { return detail::apply_function(function, in, out); };
        return serve<Args, Bare<Out>>(request, run);
      }
      F function;
    };
    add(name, message_type<Args>(), message_type<Bare<Out>>(), idempotent,
        std::make_unique<Bound>(std::move(function)));
    return *this;
  }

  /// A function that answers with a stream: a coroutine whose last parameter is where it writes, a StreamWriter of a
  /// described struct. Its other parameters live as long as it runs.
  ///   service.add_stream("watch", [&](const Query& query, StreamWriter<Quote>& out) -> Task<Result<void>> { … });
  template <class F>
  Functions& add_stream(std::string_view name, F function, bool idempotent = false) {
    using Args = typename detail::StreamSignature<F>::arguments;
    using Out = typename detail::StreamSignature<F>::message;
    struct Bound final : Function {
      explicit Bound(F f) : function(std::move(f)) {}
      Task<Result<Response>> call(Request& request) override {
        auto run = [this](const Args& in, StreamWriter<Out>& out) {
          return std::apply([&](const auto&... arguments) { return function(arguments..., out); }, in.values);
        };
        return serve_stream<Args, Out>(request, run);
      }
      F function;
    };
    add(name, message_type<Args>(), message_type<Out>(), idempotent, std::make_unique<Bound>(std::move(function)),
        Shape::server_stream);
    return *this;
  }

  std::string_view interface() const noexcept override { return interface_; }
  std::span<const Method> methods() const noexcept override { return methods_; }
  Task<Result<Response>> call(Request& request) override { return functions_[request.target->index]->call(request); }

 private:
  struct TENON_SPI Function {
    virtual ~Function();
    virtual Task<Result<Response>> call(Request& request) = 0;
  };
  void add(std::string_view name, const MessageType& input, const MessageType& output, bool idempotent,
           std::unique_ptr<Function> function, Shape shape = Shape::unary);

  std::string interface_;
  std::deque<std::string> names_;
  std::vector<Method> methods_;
  std::vector<std::unique_ptr<Function>> functions_;
};

template <class Signature>
class ClientFunction;

/// A plain function of a remote service, callable in the forms of ClientMethod: update(7, user),
/// co_await update(7, user, use_task), update(7, user, callback). Arguments are copied into the call.
/// Threads and errors as ClientMethod.
template <class R, class... A>
class ClientFunction<R(A...)> {
 public:
  using In = Arguments<std::remove_cvref_t<A>...>;
  using Out = std::conditional_t<std::is_void_v<R>, Void, R>;

  ClientFunction(std::shared_ptr<Reference> reference, std::string_view name, bool idempotent = false)
      : method_(std::move(reference), Method{name, Shape::unary, &message_type<In>(), &message_type<Bare<Out>>(),
                                             idempotent}) {}

  const Result<const Target*>& bound() const noexcept { return method_.bound(); }

  Result<Out> operator()(const std::remove_cvref_t<A>&... arguments) const { return call(CallOptions(), arguments...); }
  /// With options first: update({.timeout = 50ms}, 7, user) reads badly, so it has a name.
  Result<Out> call(const CallOptions& options, const std::remove_cvref_t<A>&... arguments) const {
    const In in{{arguments...}};
    Result<Bare<Out>> answer = method_(in, options);
    if (!answer.ok()) return std::move(answer).error();
    return Result<Out>(std::move(answer->value));
  }
  Task<Result<Out>> operator()(const std::remove_cvref_t<A>&... arguments, use_task_t) const {
    return task(In{{arguments...}}, CallOptions());
  }
  Task<Result<Out>> call(const CallOptions& options, const std::remove_cvref_t<A>&... arguments, use_task_t) const {
    return task(In{{arguments...}}, options);
  }
  /// At every instance at once: as ClientMethod::each.
  Result<std::vector<InstanceAnswer<Out>>> each(const std::remove_cvref_t<A>&... arguments) const {
    const In in{{arguments...}};
    auto answers = method_.each(in);
    if (!answers.ok()) return std::move(answers).error();
    std::vector<InstanceAnswer<Out>> all;
    for (auto& [instance, answer] : *answers)
      all.emplace_back(std::move(instance), answer.ok() ? Result<Out>(std::move(answer->value))
                                                        : Result<Out>(std::move(answer).error()));
    return all;
  }
  template <detail::Token Token>
  auto operator()(const std::remove_cvref_t<A>&... arguments, Token&& token) const {
    const In in{{arguments...}};
    auto unwrap = [](Result<Bare<Out>> answer) {
      if (!answer.ok()) return Result<Out>(std::move(answer).error());
      return Result<Out>(std::move(answer->value));
    };
    return initiate(in, unwrap, std::forward<Token>(token));
  }

 private:
  Task<Result<Out>> task(In in, CallOptions options) const {
    Task<Result<Bare<Out>>> asked = method_(in, options, use_task);
    Result<Bare<Out>> answer = co_await asked;
    if (!answer.ok()) co_return std::move(answer).error();
    co_return Result<Out>(std::move(answer->value));
  }
  template <class Unwrap, class Token>
  auto initiate(const In& in, Unwrap unwrap, Token&& token) const {
    auto begin = [this, unwrap](auto handler, In request) {
      auto executor = boost::asio::get_associated_executor(handler, boost::asio::system_executor());
      auto outer = [handler = std::move(handler), executor, unwrap](Result<Bare<Out>> answer) mutable {
        auto finish = [handler = std::move(handler), result = unwrap(std::move(answer))]() mutable {
          std::move(handler)(std::move(result));
        };
        boost::asio::dispatch(executor, std::move(finish));
      };
      method_(request, std::move(outer));
    };
    return boost::asio::async_initiate<Token, void(Result<Out>)>(std::move(begin), token, in);
  }

  ClientMethod<In, Bare<Out>> method_;
};

template <class Signature>
class ClientStreamFunction;

/// A function of a remote service that answers with a stream: ClientStreamFunction<Quote(Query)> watch{reference,
/// "watch"}; Stream<Quote> quotes = watch(query). Threads and errors as ClientStreamMethod.
template <class T, class... A>
class ClientStreamFunction<T(A...)> {
 public:
  using In = Arguments<std::remove_cvref_t<A>...>;

  ClientStreamFunction(std::shared_ptr<Reference> reference, std::string_view name, bool idempotent = false)
      : method_(std::move(reference),
                Method{name, Shape::server_stream, &message_type<In>(), &message_type<T>(), idempotent}) {}

  const Result<const Target*>& bound() const noexcept { return method_.bound(); }

  Stream<T> operator()(const std::remove_cvref_t<A>&... arguments) const { return call(CallOptions(), arguments...); }
  Stream<T> call(const CallOptions& options, const std::remove_cvref_t<A>&... arguments) const {
    const In in{{arguments...}};
    return method_(in, options);
  }

 private:
  ClientStreamMethod<In, T> method_;
};

}  // namespace tenon
