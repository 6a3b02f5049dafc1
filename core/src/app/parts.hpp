#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "admin/admin_server.hpp"
#include "app/announcements.hpp"
#include "app/stop_requests.hpp"
#include "chain/encodings.hpp"
#include "client/bound_reference.hpp"
#include "component/builder.hpp"
#include "log/log.hpp"
#include "loop/loop.hpp"
#include "plugin_host/plugin_host.hpp"
#include "server/server.hpp"
#include "tenon/app.hpp"

namespace tenon {

struct EndpointSettings;

/// What an App owns, in the order it is built; taken apart in reverse.
class App::Parts {
 public:
  explicit Parts(AppOptions options);
  ~Parts();

  Result<void> open();   // plugins, loops
  Result<void> start();  // components, server, references, announcements
  /// `told`: by whom, and until when; null: by the program, which gives `grace`.
  bool stop(Duration grace, const StopRequests* told);
  void catch_signals();
  std::shared_ptr<Reference> reference(const std::string& name);

  AppOptions options;
  std::unique_ptr<Log> log;
  std::unique_ptr<StopRequests> requests;  // null: nobody has asked for signals. To the end: it watches the end
  std::unique_ptr<plugin_host::PluginHost> host;
  std::vector<std::shared_ptr<Loop>> loops;  // references that outlive the App keep theirs
  std::unique_ptr<ComponentBuilder> builder;
  std::vector<std::shared_ptr<Service>> provided;
  std::unique_ptr<Server> server;
  std::unique_ptr<Announcements> announcements;  // from open() on
  std::map<std::string, AttemptSeen> attempt_watchers;  // by reference

 private:
  Loop& control() noexcept { return *loops.front(); }
  std::string place_of(const std::string& path) const;
  Result<std::shared_ptr<const Encodings>> encodings(std::size_t limit);
  Result<void> build_server();
  Result<void> open_admin();
  Result<void> offer(ServerSettings& settings);
  Result<void> warm_up();
  Result<void> announce();
  /// Who calls it: the application, or a component that has it as an option and lives on the control thread.
  enum class Usage { by_callers, by_component };
  Result<std::shared_ptr<BoundReference>> open_reference(const std::string& name, const ReferenceOptions& chosen,
                                                         Usage usage);
  Result<void> open_references();
  Result<void> await_instances();
  /// Fails with: cancelled, when somebody has asked to stop.
  Result<void> go_on() const;
  /// True: every call that was running has been answered.
  bool drain(Duration grace, const StopRequests* told);
  void close_references();
  bool quiet(Duration limit);
  /// Builds every component of a list, in order.
  template <class K>
  Result<std::vector<std::shared_ptr<K>>> make_list(const std::vector<Component>& components, const std::string& path) {
    std::vector<std::shared_ptr<K>> made;
    for (std::size_t index = 0; index < components.size(); ++index) {
      auto one = builder->make<K>(components[index], path + "[" + std::to_string(index) + "]");
      if (!one.ok()) return std::move(one).error();
      made.push_back(std::move(*one));
    }
    return made;
  }

  std::shared_ptr<admin::AppFacts> facts_;
  std::unique_ptr<admin::AdminServer> admin_;
  std::mutex references_mutex_;
  std::map<std::string, std::shared_ptr<BoundReference>, std::less<>> references_;
  std::vector<std::shared_ptr<const EndpointSettings>> endpoint_settings_;
  bool started_ = false;
  bool stopped_ = false;
  bool all_answered_ = true;
  bool left_behind_ = false;  // something that was not waited for is still at work, and may use all of this
};

}  // namespace tenon
