// One call to every instance at once, a result of each.

#include <set>

#include "support/test_apps.hpp"

namespace tenon::test {
namespace {

class Each : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3; ++i) {
      auto service = std::make_shared<Functions>("test.Each");
      service->add("who", [i](const std::string& name) -> Result<std::string> {
        if (i == 2 && name == "two will not") return Error(Errc::application, "I am two", Delivery::ran);
        return name + std::to_string(i);
      });
      servers_.push_back(start(server_options(), {service}));
      ASSERT_TRUE(servers_.back());
      addresses_ += (i == 0 ? "" : ",") + servers_.back()->addresses()[0];
    }
  }
  std::unique_ptr<App> client(const std::string& addresses) {
    auto app = start(client_options("test.Each", addresses));
    if (app) {
      for (const auto& server : servers_)
        EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 1; }));
    }
    return app;
  }
  using Who = ClientFunction<std::string(std::string)>;

  std::vector<std::unique_ptr<App>> servers_;
  std::string addresses_;
};

TEST_F(Each, InstanceAnswersForItself) {
  const auto app = client(addresses_);
  ASSERT_TRUE(app);
  const Who who(app->reference("r"), "who");
  const auto all = who.each("I am ");
  ASSERT_TRUE(all.ok()) << all.error().text();
  ASSERT_EQ(all->size(), 3u);
  std::set<std::string> answers;
  for (const auto& [instance, answer] : *all) {
    EXPECT_NE(addresses_.find(instance), std::string::npos) << instance;
    answers.insert(answer.ok() ? *answer : answer.error().text());
  }
  EXPECT_EQ(answers, (std::set<std::string>{"I am 0", "I am 1", "I am 2"}));
}

TEST_F(Each, InstanceFailsForItself) {
  const auto app = client("127.0.0.1:1," + addresses_);
  ASSERT_TRUE(app);
  const Who who(app->reference("r"), "who");
  const auto all = who.each("two will not");
  ASSERT_TRUE(all.ok()) << all.error().text();
  ASSERT_EQ(all->size(), 4u);
  EXPECT_EQ((*all)[0].answer.error().code(), Errc::unavailable);
  EXPECT_TRUE((*all)[1].answer.ok());
  EXPECT_TRUE((*all)[2].answer.ok());
  EXPECT_EQ((*all)[3].answer.error().code(), Errc::application);
}

// From a coroutine on another thread, with options; and given up by the caller.
TEST_F(Each, WorksAsATaskAndCanBeCancelled) {
  const auto app = client(addresses_);
  ASSERT_TRUE(app);
  using In = Arguments<std::string>;
  const ClientMethod<In, Bare<std::string>> who(
      app->reference("r"), Method{"who", Shape::unary, &message_type<In>(), &message_type<Bare<std::string>>()});
  const In in{{std::string("task ")}};
  CallOptions options;
  options.timeout = std::chrono::seconds(5);
  Task<Result<std::vector<InstanceAnswer<Bare<std::string>>>>> task = who.each(in, options, use_task);
  std::atomic<bool> ended{false};
  if (task.start([](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &ended)) ended = true;
  ASSERT_TRUE(eventually([&] { return ended.load(); }));
  const auto all = task.take();
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 3u);
  CancelSource cancel;
  cancel.cancel();
  options.cancel = &cancel;
  const auto none = who.each(in, options);
  if (none.ok()) {
    for (const auto& each : *none) EXPECT_EQ(each.answer.error().code(), Errc::cancelled);
  } else {
    EXPECT_EQ(none.error().code(), Errc::cancelled);
  }
  EXPECT_TRUE(eventually([&] { return idle(*app); }));
}

}  // namespace
}  // namespace tenon::test
