// Applications with a wrong token: what they say, and what becomes of them.
#include "../discovery/live_fixture.hpp"
#include "support/center_server.hpp"

namespace tenon::test {
namespace {

class CenterToken : public Live {
 protected:
  CenterToken() { center_.start(); }
  Store with_token(const std::string& token, const std::string& more = {}) const {
    const std::string registry = center_.registry(center_.address(), milliseconds(300));
    return {"registry-center", registry.substr(0, registry.rfind('}')) + ", token: \"" + token + "\"" + more + " }"};
  }
  static int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
  CenterServer center_{session, "token: \"what the center wants\""};
};

class SlowCenterToken : public CenterToken {};

TEST_F(SlowCenterToken, AWrongOneIsSaidOnceWithWhatToDoAndHarmsNobody) {
  store_ = with_token("what the center wants");
  provide("good");
  store_ = with_token("another");
  consume();
  ASSERT_TRUE(eventually([&] { return log_text().find("refuses this application") != std::string::npos; }));
  const std::string call = consumer().call();
  EXPECT_TRUE(call.starts_with("error: blue/test.Who: no instance can be called: no instance is known")) << call;
  std::this_thread::sleep_for(seconds(3));
  const std::string log = log_text();
  EXPECT_EQ(count(log, "[center]"), 1) << log;
  for (const auto& [cause, lines] : logged()) EXPECT_EQ(lines, 1) << cause << "\n" << log;
  EXPECT_NE(log.find("wrong token; set the registry's option token to the center's"), std::string::npos) << log;
  EXPECT_EQ(log.find("another"), std::string::npos) << "tokens stay secret";
  EXPECT_EQ(count(center_.log(), "[center-token]"), 1) << center_.log();
  EXPECT_EQ(center_.log().find("another"), std::string::npos);
  // Who has the right one does not feel it.
  store_ = with_token("what the center wants");
  const Consumer other(group, store_);
  EXPECT_TRUE(eventually([&] { return other.call() == "good"; }));
  // The center is started anew with the token that the consumer has: it is found soon.
  center_.kill();
  center_.set("token: \"another\"");
  std::this_thread::sleep_for(seconds(5));  // somebody is asked in vain, and is not refused
  center_.start();
  store_ = with_token("another");
  provide("late");
  EXPECT_TRUE(answer({"late"}, seconds(20)));
  EXPECT_EQ(other.call(), "good") << "it keeps whom it knew";
}

TEST_F(CenterToken, WithCheckTheApplicationDoesNotStart) {
  AppOptions options = with_store(server_options(), with_token("another", ", check: true"));
  ServiceOptions offered;
  offered.name = traffic_service;
  offered.registry = {"here"};
  options.server.services = {offered};
  auto app = App::create(std::move(options));
  ASSERT_TRUE(app.ok()) << app.error().text();
  (*app)->provide(std::make_shared<Who>("a"));
  const auto started = (*app)->start();
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Errc::permission_denied);
  EXPECT_NE(started.error().text().find("wrong token"), std::string::npos) << started.error().text();
}

}  // namespace
}  // namespace tenon::test
