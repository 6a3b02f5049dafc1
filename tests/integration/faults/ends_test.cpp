// Clients, calls and processes that end in the middle of something.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <random>

#include "conversation.hpp"
#include "support/descriptors.hpp"
#include "support/fault_proxy.hpp"
#include "tenon/filter.hpp"
#include "tenon/plugin.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

constexpr Tongue tenon_tongue{"tenon", "protobuf"};
constexpr Tongue motan_tongue{"motan2", "simple"};
const auto tongue_name = [](const testing::TestParamInfo<Tongue>& info) { return std::string(info.param.protocol); };

class Ends : public testing::TestWithParam<Tongue> {};
INSTANTIATE_TEST_SUITE_P(Each, Ends, testing::Values(tenon_tongue, motan_tongue), tongue_name);

// SHD-6. Clients that go with calls in flight: each call completes once, nothing is left.
TEST_P(Ends, ClientsThatGoWithCallsInFlight) {
  CountedRuns counted;
  auto server = start(fault_server_options(GetParam()), {counted.service()});
  ASSERT_TRUE(server);
  std::atomic<int> completed = 0;
  int begun = 0;
  std::size_t before = 0;
  for (int round = 0; round < 25; ++round) {
    auto client = start(fault_client_options(GetParam(), server->addresses()[0]));
    ASSERT_TRUE(client);
    const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> nap(client->reference("r"), "nap");
    for (int i = 0; i < 10; ++i, ++begun) nap(i, i % 3 == 0 ? 0 : 300, [&](const auto&) { ++completed; });
    if (round % 3 == 0) std::this_thread::sleep_for(1ms);
    client.reset();
    EXPECT_EQ(completed, begun);  // what was in flight has been told
    if (round == 0) before = open_descriptors();
  }
  EXPECT_TRUE(eventually([&] { return idle(*server); }));  // handlers outlive their callers
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= before; }));
  EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 0; }));
}

// SHD-6. The client object goes inside its own callback.
TEST_P(Ends, AClientFunctionThatGoesInItsOwnCallback) {
  CountedRuns counted;
  auto server = start(fault_server_options(GetParam()), {counted.service()});
  ASSERT_TRUE(server);
  auto client = start(fault_client_options(GetParam(), server->addresses()[0]));
  ASSERT_TRUE(client);
  std::atomic<int> done = 0;
  for (int i = 0; i < 100; ++i) {
    auto echo = std::make_shared<std::unique_ptr<Conversation::Echo>>(
        std::make_unique<Conversation::Echo>(client->reference("r"), "echo"));
    (**echo)(i, "x", [echo, &done](const auto&) {
      echo->reset();
      ++done;
    });
  }
  EXPECT_TRUE(eventually([&] { return done == 100; }));
  EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*server); }));
}

/// Replies that arrive around the deadline.
void race_with_deadlines(const Tongue& tongue, int rounds) {
  CountedRuns counted;
  auto server = start(fault_server_options(tongue), {counted.service()});
  ASSERT_TRUE(server);
  // A deadline of 5 ms fires up to 5 ms later: some of these replies come before it, some at it, two thirds after it.
  FaultProxy proxy(server->addresses()[0], {{}, {.delay = 6ms, .jitter = 12ms}});
  auto client = start(fault_client_options(tongue, proxy.address()));
  ASSERT_TRUE(client);
  const ClientMethod<Arguments<std::int64_t, std::string>, Bare<std::string>> echo(
      client->reference("r"), Method{"echo", Shape::unary, &message_type<Arguments<std::int64_t, std::string>>(),
                                     &message_type<Bare<std::string>>(), false});
  struct Call {
    Arguments<std::int64_t, std::string> in;
    Bare<std::string> out;
    Task<Result<void>> task;
    std::atomic<int> ended = 0;
    std::string seen;  // of `out`, when it had ended
  };
  CallOptions hurry;
  hurry.timeout = 5ms;
  int good = 0, late = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Call> calls(100);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      Call& call = calls[i];
      call.in.values = {static_cast<std::int64_t>(i), "text " + std::to_string(round * 100 + static_cast<int>(i))};
      call.out.value = "untouched";
      call.task = echo(call.in, call.out, hurry, use_task);
      if (call.task.start([](void* ended) { ++*static_cast<std::atomic<int>*>(ended); }, &call.ended)) ++call.ended;
    }
    for (Call& call : calls) {
      ASSERT_TRUE(eventually([&] { return call.ended > 0; }));
      call.seen = call.out.value;
    }
    std::this_thread::sleep_for(20ms);  // for the late ones
    for (Call& call : calls) {
      const Result<void> result = call.task.take();
      ASSERT_EQ(call.ended, 1);
      ASSERT_EQ(call.out.value, call.seen) << "changed after the call had ended";
      if (result.ok()) {
        ASSERT_EQ(call.out.value, std::get<1>(call.in.values));
        ++good;
      } else {
        ASSERT_EQ(result.error().code(), Errc::deadline_exceeded) << result.error().text();
        ++late;
      }
    }
  }
  EXPECT_GT(late, 0);
  testing::Test::RecordProperty("in_time", good);
  testing::Test::RecordProperty("late", late);
  EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*server); }));
}

// SHD-7. Late replies never touch a call that has ended.
TEST_P(Ends, LateRepliesTouchNothing) { race_with_deadlines(GetParam(), 10); }

class SlowEnds : public Ends {};
INSTANTIATE_TEST_SUITE_P(SlowEach, SlowEnds, testing::Values(tenon_tongue, motan_tongue), tongue_name);
TEST_P(SlowEnds, LateRepliesTouchNothingInAHundredThousandCalls) { race_with_deadlines(GetParam(), 1000); }

/// Throws, at once or as a coroutine.
struct ThrowingOptions {
  bool at_once = false;
};
BOOST_DESCRIBE_STRUCT(ThrowingOptions, (), (at_once))
class Throwing final : public Filter {
 public:
  using Options = ThrowingOptions;
  static Result<std::unique_ptr<Throwing>> create(Options options, Environment) {
    return std::make_unique<Throwing>(options.at_once);
  }
  explicit Throwing(bool at_once) : at_once_(at_once) {}
  Task<Result<Response>> apply(Request& request, Invoker& next) override {
    if (at_once_) throw std::runtime_error("thrown on purpose");
    return later(request, next);
  }

 private:
  static Task<Result<Response>> later(Request& request, Invoker& next) {
    auto calling = next.call(request);
    Result<Response> answer = co_await calling;
    if (answer.ok()) throw std::runtime_error("thrown on purpose");
    co_return std::move(answer);
  }
  const bool at_once_;
};
constexpr Plugin throwing_plugin{
    .name = "filter-throwing",
    .version = "1.0.0",
    .install = [](Catalog& catalog) { catalog.add<Filter, Throwing>("throwing"); },
};

// SHD-8. A server's filter that throws: an error reply, and the process lives.
TEST(Exceptions, OfAServersFilterAreErrorReplies) {
  const BuiltIn built_in(throwing_plugin);
  for (const bool at_once : {false, true}) {
    CountedRuns counted;
    AppOptions chosen = fault_server_options(tenon_tongue);
    built_in.join(chosen);
    ServiceOptions offered;
    offered.name = counted_interface;
    offered.filters = {Component::of("throwing", ThrowingOptions{at_once})};
    chosen.server.services = {offered};
    auto server = start(std::move(chosen), {counted.service()});
    ASSERT_TRUE(server);
    auto client = start(fault_client_options(tenon_tongue, server->addresses()[0]));
    ASSERT_TRUE(client);
    const Conversation::Echo echo(client->reference("r"), "echo");
    for (int i = 0; i < 3; ++i) {
      const Result<std::string> answer = echo(i, "x");
      ASSERT_FALSE(answer.ok());
      EXPECT_EQ(answer.error().code(), Errc::internal);
      EXPECT_NE(answer.error().text().find("thrown on purpose"), std::string::npos) << answer.error().text();
    }
    EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*server); }));
  }
}

// SHD-8. A client's filter that throws: the call fails, whichever its form, and the process lives.
TEST(Exceptions, OfAClientsFilterFailTheCall) {
  const BuiltIn built_in(throwing_plugin);
  CountedRuns counted;
  auto server = start(fault_server_options(tenon_tongue), {counted.service()});
  ASSERT_TRUE(server);
  for (const bool at_once : {false, true})
    for (const bool around_attempts : {false, true}) {
      AppOptions chosen = fault_client_options(tenon_tongue, server->addresses()[0]);
      built_in.join(chosen);
      ReferenceOptions& reference = chosen.client.references["r"];
      auto& filters = around_attempts ? reference.attempt_filters : reference.filters;
      filters.push_back(Component::of("throwing", ThrowingOptions{at_once}));
      auto client = start(std::move(chosen));
      ASSERT_TRUE(client);
      const Conversation::Echo echo(client->reference("r"), "echo");
      for (int i = 0; i < 3; ++i) {
        const Result<std::string> answer = echo(i, "x");
        ASSERT_FALSE(answer.ok());
        EXPECT_NE(answer.error().text().find("thrown on purpose"), std::string::npos) << answer.error().text();
        std::atomic<int> told = 0;
        echo(i, "x", [&](const Result<std::string>& late) { told += late.ok() ? 100 : 1; });
        EXPECT_TRUE(eventually([&] { return told == 1; }));
      }
      EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*server); }));
    }
}

// SHD-8. A callback that throws: where it has an executor of its own, its exception comes out there, and whoever runs
// that decides; the framework goes on.
TEST(Exceptions, OfACallbackComeOutOfItsOwnExecutor) {
  CountedRuns counted;
  auto server = start(fault_server_options(tenon_tongue), {counted.service()});
  ASSERT_TRUE(server);
  auto client = start(fault_client_options(tenon_tongue, server->addresses()[0]));
  ASSERT_TRUE(client);
  const Conversation::Echo echo(client->reference("r"), "echo");
  boost::asio::io_context own;
  for (int i = 0; i < 10; ++i) {
    own.restart();
    auto work = boost::asio::make_work_guard(own);
    echo(i, "x", boost::asio::bind_executor(own, [](const Result<std::string>&) {
           throw std::runtime_error("thrown on purpose");
         }));
    EXPECT_THROW(own.run_for(5s), std::runtime_error);
    EXPECT_TRUE(echo(100 + i, "x").ok());
  }
  EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*server); }));
}

// SHD-9. Every descriptor is close-on-exec, and a child that only forks and leaves disturbs nothing.
TEST(Fork, ChildrenInheritNothingAndDisturbNothing) {
  CountedRuns counted;
  std::vector<bool> known(1024, false);
  for (int fd = 0; fd < 1024; ++fd) known[static_cast<std::size_t>(fd)] = ::fcntl(fd, F_GETFD) != -1;
  AppOptions serving = fault_server_options(tenon_tongue);
  serving.plugins.load.push_back("transport-tls");
  auto server = start(std::move(serving), {counted.service()});
  ASSERT_TRUE(server);
  auto client = start(fault_client_options(tenon_tongue, server->addresses()[0]));
  ASSERT_TRUE(client);
  const Conversation::Echo echo(client->reference("r"), "echo");
  ASSERT_TRUE(echo(1, "x").ok());
  int opened = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags == -1 || known[static_cast<std::size_t>(fd)]) continue;
    ++opened;
    EXPECT_TRUE(flags & FD_CLOEXEC) << "descriptor " << fd;
  }
  EXPECT_GT(opened, 4);
  for (int i = 0; i < 5; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    const Result<std::string> answer = echo(2 + i, "x");
    ASSERT_TRUE(answer.ok()) << answer.error().text();
  }
  EXPECT_EQ(server->counts().server_connections, 1u);
}

// SHD-10. Writing to a peer that is gone raises no signal.
TEST(Signals, APeerThatIsGoneRaisesNone) {
  CountedRuns counted;
  struct sigaction normal {};
  struct sigaction before {};
  normal.sa_handler = SIG_DFL;
  ASSERT_EQ(::sigaction(SIGPIPE, &normal, &before), 0);
  auto server = start(fault_server_options(tenon_tongue), {counted.service()});
  ASSERT_TRUE(server);
  ASSERT_EQ(::sigaction(SIGPIPE, &normal, nullptr), 0);  // whatever start() chose
  FaultProxy proxy(server->addresses()[0]);
  std::atomic<std::int64_t> numbers{0};
  for (int round = 0; round < 10; ++round) {
    auto client = start(fault_client_options(tenon_tongue, proxy.address()));
    ASSERT_TRUE(client);
    Conversation talk(*client, numbers);
    for (int i = 0; i < 20; ++i) talk.begin(60'000);
    proxy.cut(round % 2 ? Cut::reset : Cut::close);
    ASSERT_TRUE(talk.join());
  }
  EXPECT_EQ(::sigaction(SIGPIPE, &before, nullptr), 0);
}

// SHD-12. Nothing spins: what idles, with connections open and heartbeats, takes next to no time.
TEST(SlowIdle, TakesNoProcessorTime) {
  CountedRuns counted;
  AppOptions serving = fault_server_options(tenon_tongue);
  serving.runtime.io_threads = 2;
  auto server = start(std::move(serving), {counted.service()});
  ASSERT_TRUE(server);
  AppOptions calling = fault_client_options(tenon_tongue, server->addresses()[0]);
  calling.client.references["gone"] = fault_reference_options(tenon_tongue, "127.0.0.1:1");
  auto client = start(std::move(calling));
  ASSERT_TRUE(client);
  ASSERT_TRUE(Conversation::Echo(client->reference("r"), "echo")(1, "x").ok());
  rusage before{}, after{};
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &before), 0);
  std::this_thread::sleep_for(4s);
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &after), 0);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  const double used = seconds(after.ru_utime) + seconds(after.ru_stime) - seconds(before.ru_utime) -
                      seconds(before.ru_stime);
  RecordProperty("cpu_seconds_in_4_s", std::to_string(used));
  EXPECT_LT(used, 0.04);
}

}  // namespace
}  // namespace tenon::test
