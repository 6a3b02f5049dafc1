#include "admin.hpp"

#include <type_traits>
#include <utility>

namespace tenon::center {

namespace {

Result<void> without_value(Result<Void> answer) {
  if (!answer.ok()) return std::move(answer).error();
  return {};
}

/// One call, once there is a center. Copies its arguments: the caller's may be gone by then.
template <class Out, class... A>
Task<Result<Out>> ask(std::shared_ptr<Session> session, Duration patience, ClientFunction<Out(A...)> Calls::*function,
                      std::remove_cvref_t<A>... arguments) {
  Task<bool> waiting = Session::wait_open(session, session->clock().now() + patience);
  if (!co_await waiting) co_return session->trouble();
  CallOptions options = session->limits();
  if (!session->token().empty()) options.headers.set(token_header, session->token());
  auto calling = (session->calls().*function).call(options, arguments..., use_task);
  co_return co_await calling;
}

template <class... A>
Task<Result<void>> tell(std::shared_ptr<Session> session, Duration patience,
                        ClientFunction<void(A...)> Calls::*function, std::remove_cvref_t<A>... arguments) {
  Task<bool> waiting = Session::wait_open(session, session->clock().now() + patience);
  if (!co_await waiting) co_return session->trouble();
  CallOptions options = session->limits();
  if (!session->token().empty()) options.headers.set(token_header, session->token());
  auto calling = (session->calls().*function).call(options, arguments..., use_task);
  Result<Void> answer = co_await calling;
  co_return without_value(std::move(answer));
}

}  // namespace

Task<Result<std::vector<ServiceName>>> CenterAdmin::services() { return ask(session_, patience_, &Calls::services); }
Task<Result<std::vector<Instance>>> CenterAdmin::instances(const ServiceName& service) {
  return ask(session_, patience_, &Calls::instances, service);
}
Task<Result<std::vector<Subscriber>>> CenterAdmin::subscribers(const ServiceName& service) {
  return ask(session_, patience_, &Calls::subscribers, service);
}
Task<Result<std::vector<std::string>>> CenterAdmin::groups() { return ask(session_, patience_, &Calls::groups); }
Task<Result<Document>> CenterAdmin::read(const std::string& kind, const std::string& group) {
  return ask(session_, patience_, &Calls::read, kind, group);
}
Task<Result<void>> CenterAdmin::write(const Document& document) {
  return tell(session_, patience_, &Calls::write, document);
}
Task<Result<void>> CenterAdmin::remove(const Document& document) {
  return tell(session_, patience_, &Calls::remove, document);
}
Task<Result<void>> CenterAdmin::set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight) {
  return tell(session_, patience_, &Calls::set_weight, service, id, weight);
}
Task<Result<void>> CenterAdmin::set_serving(const ServiceName& service, const std::string& id, bool serving) {
  return tell(session_, patience_, &Calls::set_serving, service, id, serving);
}

}  // namespace tenon::center
