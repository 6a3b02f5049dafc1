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

}  // namespace demo
