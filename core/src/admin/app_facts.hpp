#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "plugin_host/plugin_host.hpp"
#include "tenon/admin.hpp"
#include "tenon/options.hpp"

namespace tenon {
class Announcements;
class BoundReference;
class Server;
class StopRequests;
struct EndpointSettings;
}  // namespace tenon

namespace tenon::admin {

/// A reference that is open.
struct OpenedReference {
  std::string name;
  std::string registry;
  std::size_t io_thread = 0;
  std::shared_ptr<const EndpointSettings> settings;  ///< its endpoints belong to that io thread
  std::weak_ptr<BoundReference> reference;           ///< itself, which belongs there, too
  bool check = false;                                ///< the application cannot do without it
};

/// What the admin service may look at, from an App's first moment to its last.
/// Threads: any; what changes is written by the threads that start and stop the App.
class AppFacts {
 public:
  /// `given`: the options before apply_defaults(); `used`: afterwards. `used` and `host` outlive this and are not
  /// changed any more.
  AppFacts(AppOptions given, const AppOptions& used, const plugin_host::PluginHost& host,
           std::vector<std::shared_ptr<Loop>> loops)
      : given_(std::move(given)), used_(used), host_(host), loops_(std::move(loops)) {}

  const AppOptions& given() const noexcept { return given_; }
  const AppOptions& used() const noexcept { return used_; }
  const plugin_host::PluginHost& host() const noexcept { return host_; }
  const std::vector<std::shared_ptr<Loop>>& loops() const noexcept { return loops_; }
  std::chrono::steady_clock::time_point begun() const noexcept { return begun_; }

  void enter(Phase phase) {
    const std::lock_guard lock(mutex_);
    phase_ = phase;
  }
  /// False: it is in another phase than `from`.
  bool change(Phase from, Phase to) {
    const std::lock_guard lock(mutex_);
    if (phase_ != from) return false;
    phase_ = to;
    return true;
  }
  Phase phase() const {
    const std::lock_guard lock(mutex_);
    return phase_;
  }
  /// The server, once it accepts connections; it lives longer than the loops run.
  void serves(Server& server) {
    const std::lock_guard lock(mutex_);
    server_ = &server;
  }
  /// Null: none, or not yet.
  Server* server() const {
    const std::lock_guard lock(mutex_);
    return server_;
  }
  /// What can be told to stop; it outlives the admin service. Null: the program does not wait for requests.
  void is_stopped_by(StopRequests& requests) {
    const std::lock_guard lock(mutex_);
    stop_requests_ = &requests;
  }
  StopRequests* stop_requests() const {
    const std::lock_guard lock(mutex_);
    return stop_requests_;
  }
  /// What registries are told; it outlives the admin service.
  void announces(Announcements& announcements) {
    const std::lock_guard lock(mutex_);
    announcements_ = &announcements;
  }
  Announcements* announcements() const {
    const std::lock_guard lock(mutex_);
    return announcements_;
  }
  void opened(OpenedReference reference) {
    const std::lock_guard lock(mutex_);
    references_.push_back(std::move(reference));
  }
  std::vector<OpenedReference> references() const {
    const std::lock_guard lock(mutex_);
    return references_;
  }

 private:
  const AppOptions given_;
  const AppOptions& used_;
  const plugin_host::PluginHost& host_;
  const std::vector<std::shared_ptr<Loop>> loops_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;  // of everything below
  Phase phase_ = Phase::starting;
  Server* server_ = nullptr;
  StopRequests* stop_requests_ = nullptr;
  Announcements* announcements_ = nullptr;
  std::vector<OpenedReference> references_;
};

}  // namespace tenon::admin
