#include "messages.hpp"
#include "support/center_server.hpp"
#include "support/place.hpp"

namespace tenon::test {

namespace {

class CenterPlace final : public Place {
 public:
  explicit CenterPlace(std::chrono::milliseconds lease) : server_(lease) {}
  void start() override { server_.start(); }
  void kill() override { server_.kill(); }
  void wipe() override { server_.wipe(); }
  void pause() override { server_.pause(); }
  void resume() override { server_.resume(); }
  std::string address() const override { return server_.address(); }
  Store store(const std::string& address, std::chrono::milliseconds connect_timeout) const override {
    return {"registry-center", server_.registry(address, connect_timeout)};
  }
  // Ids are new in each process that announces itself, and with each of its Apps.
  std::string standing(const ServiceName& service, const std::string& address) override {
    const auto found = ask<std::vector<Instance>>("instances", service);
    for (const Instance& instance : found)
      if (instance.address == address) return instance.id;
    return {};
  }
  std::string changes(const ServiceName&) override {
    return std::to_string(ask<center::State>("state").revision);  // of all services: more than is asked for
  }

 private:
  template <class R, class... A>
  R ask(const char* method, const A&... arguments) const {
    const auto app = test::start(client_options(std::string(center::interface), server_.address()));
    Result<R> answer = ClientFunction<R(A...)>(app->reference("r"), method, true)(arguments...);
    EXPECT_TRUE(answer.ok()) << answer.error().text();
    return answer.ok() ? std::move(*answer) : R();
  }
  CenterServer server_;
};

}  // namespace

PlaceKind center_place() {
  PlaceKind kind{"center", [](std::chrono::milliseconds lease) { return std::make_unique<CenterPlace>(lease); }, false,
                 false};
  kind.settles = std::chrono::seconds(5);
  return kind;
}

}  // namespace tenon::test
