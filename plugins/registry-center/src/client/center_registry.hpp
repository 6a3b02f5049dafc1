#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "admin.hpp"
#include "announcement.hpp"
#include "follower.hpp"
#include "tenon/environment.hpp"
#include "tenon/registry.hpp"
#include "tenon/use.hpp"

namespace tenon::center {

/// The settings of registry "center".
struct CenterRegistryOptions {
  Use<Invoker> server;
  std::string token;
  std::chrono::milliseconds connect_timeout{3000};
  bool check = false;
};
BOOST_DESCRIBE_STRUCT(CenterRegistryOptions, (), (server, token, connect_timeout, check))

/// Registry "center": services announce themselves to a registry center (service tenon.Center) and hear from it. One
/// session for all of them.
class CenterRegistry final : public Registry {
 public:
  using Options = CenterRegistryOptions;
  static Result<std::unique_ptr<CenterRegistry>> create(Options options, Environment environment);
  /// Over a reference that calls the center, instead of options.server.
  static Result<std::unique_ptr<CenterRegistry>> over(std::shared_ptr<Reference> center, Options options,
                                                      Environment environment);
  ~CenterRegistry() override;

  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName& service, Instance instance) override;
  Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) override;
  Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string& group,
                                                DocumentObserver observer) override;
  RegistryAdmin* admin() noexcept override { return &admin_; }

 private:
  CenterRegistry(std::shared_ptr<Session> session, Duration patience, bool check)
      : session_(std::move(session)), patience_(patience), check_(check), admin_(session_, patience) {}

  const std::shared_ptr<Session> session_;
  const Duration patience_;
  const bool check_;
  CenterAdmin admin_;
};

}  // namespace tenon::center

template <>
struct tenon::Describe<tenon::center::CenterRegistryOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("server", "where the center is: host:port, or a name of client.references"),
      tenon::member("token", "the center's, when it wants one"),
      tenon::member("connect_timeout", "how long start-up waits for it, and after what time observers are told"),
      tenon::member("check", "announcing fails, and so does start-up, when it cannot be done within connect_timeout"));
};
