// A registry's session at a center that does not want it, with virtual time: how often it asks, and what it says.
#include "client/session.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"
#include "tenon/invoker_reference.hpp"

namespace tenon::center {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// What every call ends with, and when there was one.
class Answering final : public Invoker {
 public:
  explicit Answering(Clock& clock) : clock_(clock) {}
  Task<Result<Response>> call(Request&) override {
    times.push_back(clock_.now());
    return ready<Result<Response>>(Error(answer));
  }
  Health health() const noexcept override { return Health::open; }

  Error answer{Errc::permission_denied, "center: client \"host/7\": wrong token", Delivery::not_run, Advice::never};
  std::vector<TimePoint> times;

 private:
  Clock& clock_;
};

class CenterSession : public testing::Test {
 protected:
  CenterSession() { session->start(); }
  ~CenterSession() override {
    session->stop();
    executor.run();
  }
  Duration last_pause() const { return center->times.back() - center->times.at(center->times.size() - 2); }

  test::ManualExecutor executor;
  test::RecordingLog log;
  const std::shared_ptr<Answering> center = std::make_shared<Answering>(executor.clock());
  const std::shared_ptr<Session> session = std::make_shared<Session>(
      std::make_shared<InvokerReference>(center, ServiceName{std::string(interface), "", ""}, executor), "host/7",
      "wrong", seconds(3), Environment{executor, log, executor.clock()});
};

TEST_F(CenterSession, AWrongTokenIsSaidOnceAndTriedAgainMoreAndMoreSeldom) {
  executor.go(minutes(10));
  EXPECT_GE(center->times.size(), 10 * 60 / 30u) << "it does not give up";
  EXPECT_LE(center->times.size(), 5 + 10 * 60 / 15u);
  EXPECT_GE(last_pause(), seconds(15));
  EXPECT_LE(last_pause(), seconds(31));
  ASSERT_EQ(log.lines().size(), 1u) << "and no more";
  EXPECT_EQ(log.lines()[0],
            "center: the registry center refuses this application: center: client \"host/7\": wrong token; set the "
            "registry's option token to the center's, which whoever runs the center knows; what is known stays in use, "
            "asking again within 30 s");
  EXPECT_EQ(session->trouble().code(), Errc::permission_denied) << "which announcing and observers tell";
}

TEST_F(CenterSession, ACenterThatIsAwayIsTriedOftenAndSaidEveryTenSeconds) {
  center->answer = Error(Errc::unavailable, "nobody listens", Delivery::not_run);
  executor.go(minutes(1));
  EXPECT_GE(center->times.size(), 30u);
  EXPECT_LE(center->times.size(), 70u);
  EXPECT_GE(log.lines().size(), 5u);
  EXPECT_LE(log.lines().size(), 7u);
  EXPECT_EQ(log.count("center: the registry center does not answer: nobody listens"), log.lines().size());
}

TEST_F(CenterSession, WhatChangesIsSaid) {
  executor.go(minutes(2));
  center->answer = Error(Errc::unavailable, "nobody listens", Delivery::not_run);
  executor.go(minutes(1));
  EXPECT_EQ(log.count("wrong token"), 1u);
  EXPECT_GE(log.count("nobody listens"), 1u);
  EXPECT_LE(last_pause(), seconds(3)) << "a center that is restarted is found soon";
  center->answer = Error(Errc::permission_denied, "another token is wrong", Delivery::not_run);
  executor.go(minutes(2));
  EXPECT_EQ(log.count("another token is wrong"), 1u);
  center->answer = Error(Errc::invalid_argument, "the client's name is too long", Delivery::not_run);
  executor.go(minutes(2));
  EXPECT_EQ(log.count("the client's name is too long; what is known stays"), 1u) << "no token would help";
}

}  // namespace
}  // namespace tenon::center
