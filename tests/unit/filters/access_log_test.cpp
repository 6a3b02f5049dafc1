#include "access_log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <thread>

#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"

namespace tenon::access {
namespace {

namespace bj = boost::json;
namespace fs = std::filesystem;

/// Answers what the test says.
class ScriptedInvoker final : public Invoker {
 public:
  Task<Result<Response>> call(Request& request) override {
    ++calls;
    return ready(answer(request));
  }
  Health health() const noexcept override { return Health::open; }
  std::function<Result<Response>(Request&)> answer = [](Request&) { return Result<Response>(Response()); };
  int calls = 0;
};

class AccessLogTest : public testing::Test {
 protected:
  AccessLogTest() {
    static int number = 0;
    folder_ = fs::temp_directory_path() / ("tenon-access-" + std::to_string(getpid()) + "-" + std::to_string(++number));
    fs::create_directories(folder_);
    method_.name = "SayHello";
    target_.service = &service_;
    target_.method = &method_;
    info_.side = Side::server;
    info_.target = &target_;
    info_.started = std::chrono::steady_clock::now();
  }
  ~AccessLogTest() override { fs::remove_all(folder_); }

  std::string file(const std::string& name = "access.log") const { return (folder_ / name).string(); }
  Result<std::unique_ptr<AccessLog>> create(AccessLogOptions options) {
    return AccessLog::create(std::move(options), Environment{executor_, log_, executor_.clock()});
  }
  std::unique_ptr<AccessLog> open(AccessLogOptions options) {
    auto made = create(std::move(options));
    EXPECT_TRUE(made.ok()) << made.error().text();
    return std::move(*made);
  }
  Result<Response> call(AccessLog& filter) {
    Request request(target_);
    request.info = &info_;
    return executor_.finish(filter.apply(request, next_));
  }
  static std::vector<bj::object> lines(const std::string& path) {
    std::vector<bj::object> all;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) all.push_back(bj::parse(line).as_object());
    return all;
  }
  void fail_all() {
    next_.answer = [](Request&) { return Result<Response>(Error(Errc::application, "no such user", Delivery::ran)); };
  }

  fs::path folder_;
  test::ManualExecutor executor_;
  test::RecordingLog log_;
  ServiceName service_{"demo.Greeter", "", ""};
  Method method_;
  Target target_;
  CallInfo info_;
  ScriptedInvoker next_;
};

TEST_F(AccessLogTest, EveryCallIsALineOfTheFile) {
  auto filter = open({.file = file()});
  next_.answer = [](Request&) {
    static const Encoding encoding;
    Response response;
    response.payload = Payload::borrow_encoded(encoding, "12345");
    response.headers.set("x", "y");
    return Result<Response>(std::move(response));
  };
  const auto answered = call(*filter);
  ASSERT_TRUE(answered.ok());
  EXPECT_EQ(answered->payload.bytes(), "12345") << "the answer passes as it is";
  EXPECT_NE(answered->headers.find("x"), nullptr);
  fail_all();
  const auto failed = call(*filter);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().text(), "no such user");
  filter.reset();
  const auto all = lines(file());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("code").as_string(), "ok");
  EXPECT_EQ(all[0].at("reply_bytes").as_int64(), 5);
  EXPECT_EQ(all[0].at("side").as_string(), "server");
  EXPECT_EQ(all[1].at("code").as_string(), "application");
  EXPECT_EQ(all[1].at("delivery").as_string(), "ran");
  EXPECT_EQ(all[1].at("error").as_string(), "no such user");
}

TEST_F(AccessLogTest, WithoutAFileTheApplicationsLog) {
  auto filter = open({});
  EXPECT_TRUE(call(*filter).ok());
  ASSERT_EQ(log_.lines().size(), 1u);
  EXPECT_EQ(log_.lines()[0].substr(0, 16), "access: {\"time\":");
}

TEST_F(AccessLogTest, ATimeIsTheCallsOwn) {
  auto filter = open({.file = file()});
  info_.started = std::chrono::steady_clock::now() - std::chrono::seconds(2);
  EXPECT_TRUE(call(*filter).ok());
  info_.attempt = 1;  // a further attempt began just now
  EXPECT_TRUE(call(*filter).ok());
  info_.attempt = 0;
  info_.started = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  EXPECT_TRUE(call(*filter).ok());
  filter.reset();
  const auto all = lines(file());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_GE(all[0].at("took_us").as_int64(), 2000000);
  EXPECT_LT(all[0].at("took_us").as_int64(), 60000000);
  EXPECT_LT(all[1].at("took_us").as_int64(), 2000000);
  EXPECT_EQ(all[2].at("took_us").as_int64(), 0) << "never negative";
}

TEST_F(AccessLogTest, SlowCallsOnlyAndEveryFailure) {
  auto filter = open({.file = file(), .slow = std::chrono::seconds(100)});
  info_.started = std::chrono::steady_clock::now();
  EXPECT_TRUE(call(*filter).ok());
  info_.started -= std::chrono::seconds(101);
  EXPECT_TRUE(call(*filter).ok());
  fail_all();
  info_.started = std::chrono::steady_clock::now();
  EXPECT_FALSE(call(*filter).ok());
  filter.reset();
  const auto all = lines(file());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_GE(all[0].at("took_us").as_int64(), 101000000);
  EXPECT_EQ(all[1].at("code").as_string(), "application");
}

TEST_F(AccessLogTest, ASampleAndEveryFailure) {
  auto none = open({.file = file("none"), .sample = 0});
  auto part = open({.file = file("part"), .sample = 0.25});
  for (int i = 0; i < 4000; ++i) {
    EXPECT_TRUE(call(*none).ok());
    EXPECT_TRUE(call(*part).ok());
  }
  fail_all();
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(call(*none).ok());
    EXPECT_FALSE(call(*part).ok());
  }
  none.reset();
  part.reset();
  EXPECT_EQ(lines(file("none")).size(), 10u);
  // 1000 expected; a standard deviation is 27.
  EXPECT_NEAR(static_cast<double>(lines(file("part")).size()), 1010, 190);
}

TEST_F(AccessLogTest, AnExceptionIsWrittenAndPassesOn) {
  auto filter = open({.file = file()});
  next_.answer = [](Request&) -> Result<Response> { throw std::runtime_error("boom"); };
  EXPECT_THROW((void)call(*filter), std::runtime_error);
  filter.reset();
  const auto all = lines(file());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at("code").as_string(), "internal");
}

TEST_F(AccessLogTest, FiltersThatNameOneFileShareIt) {
  auto one = open({.file = file()});
  auto two = open({.file = (folder_ / "." / "x" / ".." / "access.log").string()});
  EXPECT_TRUE(call(*one).ok());
  EXPECT_TRUE(call(*two).ok());
  one.reset();
  EXPECT_TRUE(call(*two).ok());
  const auto refused = create({.file = file(), .max_files = 7});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::config);
  EXPECT_NE(refused.error().text().find("is open already"), std::string::npos);
  two.reset();
  EXPECT_EQ(lines(file()).size(), 3u);
  // Closed by its last user: other options, and what is there stays.
  auto again = open({.file = file(), .max_files = 7});
  EXPECT_TRUE(call(*again).ok());
  again.reset();
  EXPECT_EQ(lines(file()).size(), 4u);
}

TEST_F(AccessLogTest, AFullFileIsPutAside) {
  AccessLogOptions options{.file = file("access.log"), .max_size = 4096, .max_files = 2};
  auto filter = open(options);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(call(*filter).ok());
  filter.reset();
  int files = 0;
  std::size_t kept = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    ++files;
    EXPECT_LE(fs::file_size(entry), 4096u);
    kept += lines(entry.path().string()).size();
  }
  EXPECT_EQ(files, 3);
  EXPECT_GT(kept, 30u);
}

TEST_F(AccessLogTest, WhatCannotBeWrittenIsCountedAndTold) {
  // A device that is always full.
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  auto filter = open({.file = "/dev/full", .max_size = 0});
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(call(*filter).ok()) << "calls do not suffer";
  filter.reset();
  EXPECT_GE(log_.count("lines of /dev/full were lost"), 1u);
}

TEST_F(AccessLogTest, AFullQueueDropsAndCounts) {
  // A pipe that nobody reads: the writing thread stands still, the callers do not.
  const std::string pipe = file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  auto filter = open({.file = pipe, .max_size = 0, .queue = 16});
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5000; ++i) EXPECT_TRUE(call(*filter).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  // Let it go on.
  std::atomic<bool> done = false;
  std::thread drain([&] {
    std::string room(65536, 0);
    while (!done) {
      if (::read(reader, room.data(), room.size()) <= 0) std::this_thread::yield();
    }
  });
  filter.reset();
  done = true;
  drain.join();
  ::close(reader);
  EXPECT_GE(log_.count("were lost"), 1u);
}

TEST_F(AccessLogTest, BadOptionsAreRefused) {
  const auto refused = [&](AccessLogOptions options, const std::string& why) {
    const auto made = create(std::move(options));
    ASSERT_FALSE(made.ok()) << why;
    EXPECT_EQ(made.error().code(), Errc::config);
    EXPECT_NE(made.error().text().find(why), std::string::npos) << made.error().text();
  };
  refused({.sample = -0.1}, "sample");
  refused({.sample = 1.1}, "sample");
  refused({.sample = std::nan("")}, "sample");
  refused({.slow = std::chrono::seconds(-1)}, "slow");
  refused({.max_value = 0}, "max_value");
  refused({.max_value = 1u << 20}, "max_value");
  refused({.max_size = 1}, "max_size");
  refused({.max_files = 100000}, "max_files");
  refused({.queue = 0}, "queue");
  refused({.headers = {""}}, "no name");
  refused({.headers = {"a", "b", "a"}}, "header a is named twice");
  refused({.file = (folder_).string()}, "file: ");
}

}  // namespace
}  // namespace tenon::access
