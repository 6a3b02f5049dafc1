// Calls demo.Greeter in every form: greeter-client [--manifest FILE] [COUNT]
#include <boost/asio/use_future.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <future>
#include <string>
#include <string_view>

#include "greeter.tenon.h"
#include "tenon/app.hpp"

namespace {

struct Arguments {
  std::string manifest = "client.yaml";
  unsigned count = 1;
  bool understood = true;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--manifest" && i + 1 < argc) {
      arguments.manifest = argv[++i];
    } else if (const auto read = std::from_chars(word.begin(), word.end(), arguments.count);
               read.ec != std::errc() || read.ptr != word.end()) {
      arguments.understood = false;
    }
  }
  return arguments;
}

// True: it is an answer.
bool print(const char* form, const tenon::Result<demo::HelloReply>& reply) {
  if (reply.ok()) {
    std::printf("%s: %s\n", form, reply->message().c_str());
  } else {
    std::fprintf(stderr, "%s: %s: %s\n", form, std::string(tenon::to_string(reply.error().code())).c_str(),
                 reply.error().text().c_str());
  }
  return reply.ok();
}

// A coroutine reads like the synchronous form and blocks no thread.
tenon::Task<bool> greet_twice(const demo::Greeter::Client& greeter) {
  demo::HelloRequest request;
  request.set_name("coroutine");
  const tenon::Result<demo::HelloReply> first = co_await greeter.SayHello(request, tenon::use_task);
  if (!print("coroutine", first)) co_return false;
  demo::HelloReply reply;  // used again and again
  const tenon::Result<void> second = co_await greeter.SayHello(request, reply, tenon::use_task);
  if (second.ok()) std::printf("coroutine, reply object used again: %s\n", reply.message().c_str());
  co_return second.ok();
}

// Runs a task that is not awaited by another one, and waits for it.
bool run(const tenon::Task<bool>& task) {
  std::promise<void> ended;
  const auto on_end = [](void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); };
  if (!task.start(on_end, &ended)) ended.get_future().wait();
  return task.take();
}

bool greet(const demo::Greeter::Client& greeter) {
  using namespace std::chrono_literals;
  demo::HelloRequest request;
  bool good = true;

  request.set_name("sync");
  good &= print("sync", greeter.SayHello(request));

  good &= run(greet_twice(greeter));

  request.set_name("callback");
  std::promise<bool> called;
  greeter.SayHello(request,
                   [&called](tenon::Result<demo::HelloReply> reply) { called.set_value(print("callback", reply)); });
  good &= called.get_future().get();

  request.set_name("future");
  tenon::CallOptions options;
  options.timeout = 500ms;
  std::future<tenon::Result<demo::HelloReply>> future = greeter.SayHello(request, options, boost::asio::use_future);
  good &= print("future", future.get());

  demo::HelloTimesRequest times;
  times.set_name("stream");
  times.set_times(2);
  tenon::Stream<demo::HelloReply> stream = greeter.SayHelloTimes(times);
  demo::HelloReply reply;
  tenon::Result<bool> more = stream.next(reply);
  for (; more.ok() && *more; more = stream.next(reply)) std::printf("stream: %s\n", reply.message().c_str());
  return good && more.ok();
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (!arguments.understood) {
    std::fprintf(stderr, "Usage: %s [--manifest FILE] [COUNT]\nCalls demo.Greeter COUNT times (1) in each form.\n",
                 argv[0]);
    return 2;
  }
  auto app = tenon::App::from_manifest(arguments.manifest);
  if (!app.ok()) {
    std::fprintf(stderr, "%s\n", app.error().text().c_str());
    return 2;
  }
  if (const auto started = (*app)->start(); !started.ok()) {
    std::fprintf(stderr, "%s\n", started.error().text().c_str());
    return 1;
  }
  const demo::Greeter::Client greeter((*app)->reference("greeter"));
  bool good = true;
  for (unsigned i = 0; i < arguments.count; ++i) good &= greet(greeter);
  return good ? 0 : 1;
}
