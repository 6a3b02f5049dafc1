// Generated one-way and stream methods, called over a connection.
#include <atomic>
#include <mutex>

#include "shapes.tenon.h"
#include "support/test_apps.hpp"

namespace {

using odd::shapes::Filter;
using odd::shapes::Line;
using odd::shapes::Logs;

class LogsService final : public Logs::Service {
 public:
  tenon::Task<tenon::Result<void>> Note(const Line& request, const tenon::CallInfo&) override {
    const std::lock_guard lock(mutex_);
    lines_.push_back(request);
    co_return tenon::Result<void>();
  }
  tenon::Task<tenon::Result<Filter>> Count(const google::protobuf::Empty&, const tenon::CallInfo&) override {
    const std::lock_guard lock(mutex_);
    Filter filter;
    filter.set_lines(static_cast<int>(lines_.size()));
    co_return filter;
  }
  tenon::Task<tenon::Result<void>> Tail(const Filter& request, tenon::StreamWriter<Line>& out,
                                        const tenon::CallInfo& info) override {
    info.reply->headers.set("of", std::to_string(lines_.size()));
    for (int i = 0; i < request.lines(); ++i) {
      Line line = lines_.at(static_cast<std::size_t>(i));
      line.mutable_text()->append(static_cast<std::size_t>(request.size()), '.');
      tenon::Result<void> sent = co_await out.send(line);
      if (!sent.ok()) co_return sent;
    }
    co_return tenon::Result<void>();
  }

 private:
  std::mutex mutex_;
  std::vector<Line> lines_;
};

class Shapes : public testing::Test {
 protected:
  void SetUp() override {
    server = tenon::test::start(tenon::test::server_options("memory", "shapes"), {std::make_shared<LogsService>()});
    ASSERT_TRUE(server);
    client = tenon::test::start(tenon::test::client_options("odd.shapes.Logs", server->addresses()[0], "memory"));
    ASSERT_TRUE(client);
  }
  std::unique_ptr<tenon::App> server;
  std::unique_ptr<tenon::App> client;
};

TEST_F(Shapes, OneWayMethodsAreSentAndStreamsRead) {
  const Logs::Client logs(client->reference("r"));
  Line line;
  for (const char* text : {"a", "b", "c"}) {
    line.set_text(text);
    const tenon::Result<tenon::Void> sent = logs.Note(line);
    ASSERT_TRUE(sent.ok()) << sent.error().text();
  }
  const google::protobuf::Empty empty;
  ASSERT_TRUE(tenon::test::eventually([&] {
    const tenon::Result<Filter> count = logs.Count(empty);
    return count.ok() && count->lines() == 3;
  }));
  Filter filter;
  filter.set_lines(3);
  filter.set_size(100'000);
  tenon::Stream<Line> tail = logs.Tail(filter);
  for (const char* text : {"a", "b", "c"}) {
    const tenon::Result<bool> more = tail.next(line);
    ASSERT_TRUE(more.ok() && *more);
    EXPECT_EQ(line.text(), text + std::string(100'000, '.'));
  }
  const tenon::Result<bool> end = tail.next(line);
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(*end);
  ASSERT_TRUE(tail.headers().find("of"));
  EXPECT_EQ(*tail.headers().find("of"), "3");
}

TEST_F(Shapes, AStreamThatNobodyImplementedSaysSo) {
  const Logs::Client logs(client->reference("r"));
  tenon::Stream<Line> none = logs.NotImplemented(Filter());
  Line line;
  const tenon::Result<bool> more = none.next(line);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), tenon::Errc::unimplemented);
  EXPECT_NE(more.error().text().find("odd.shapes.Logs.NotImplemented"), std::string::npos) << more.error().text();
}

TEST(ShapesTable, SaysHowManyMessagesGoEachWay) {
  const std::span<const tenon::Method> methods = Logs::methods();
  ASSERT_EQ(methods.size(), 4u);
  EXPECT_EQ(methods[0].shape, tenon::Shape::one_way);
  EXPECT_EQ(methods[1].shape, tenon::Shape::unary);
  EXPECT_EQ(methods[2].shape, tenon::Shape::server_stream);
}

}  // namespace
