#include "greeter_service.hpp"

#include <unistd.h>

namespace demo {

tenon::Result<std::unique_ptr<tenon::Service>> GreeterService::create(Options options, tenon::Environment) {
  if (options.greeting.empty())
    return tenon::Error(tenon::Errc::config, "greeting is empty; leave it out for \"Hello\"", tenon::Delivery::not_run);
  return std::unique_ptr<tenon::Service>(std::make_unique<GreeterService>(std::move(options)));
}

tenon::Task<tenon::Result<HelloReply>> GreeterService::SayHello(const HelloRequest& request, const tenon::CallInfo&) {
  if (request.name().empty())
    co_return tenon::Error(tenon::Errc::invalid_argument, "demo.Greeter/SayHello: name is empty; say who is greeted");
  HelloReply reply;
  reply.set_message(options_.greeting + ", " + request.name() + ", from process " + std::to_string(::getpid()));
  co_return reply;
}

tenon::Task<tenon::Result<void>> GreeterService::SayHelloTimes(const HelloTimesRequest& request,
                                                               tenon::StreamWriter<HelloReply>& out,
                                                               const tenon::CallInfo& info) {
  HelloRequest once;
  once.set_name(request.name());
  for (int i = 0; i < request.times(); ++i) {
    const tenon::Result<HelloReply> reply = co_await SayHello(once, info);
    if (!reply.ok()) co_return reply.error();
    const tenon::Result<void> sent = co_await out.send(*reply);  // goes on when the caller has room for the next
    if (!sent.ok()) co_return sent;                              // the caller has gone
  }
  co_return tenon::Result<void>();
}

}  // namespace demo
