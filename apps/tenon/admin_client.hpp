#pragma once
// The service tenon.Admin of a running process, as `tenon stats` and `tenon top` ask it.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/admin.hpp"
#include "tenon/app.hpp"
#include "tenon/functions.hpp"

namespace CLI {
class App;
}

namespace tenon::cli {

/// Which process is meant, as the command line says it.
struct AdminTarget {
  std::string address;   ///< "unix:/run/greeter/admin.sock", or the socket's path
  std::string manifest;  ///< instead: its admin.listen
  std::string timeout{"3s"};
  std::vector<std::string> plugin_dir;
};

/// Adds them to a subcommand's command line.
void add_admin_target(CLI::App& parser, AdminTarget& target);

/// Asks; each question is one call. It speaks whichever serializer the process has loaded.
/// Threads: one, no io thread. Blocking: a call, at most the target's timeout.
class AdminClient {
 public:
  /// Nothing is connected yet. Fails with: config (address, manifest, missing plugins).
  static Result<std::unique_ptr<AdminClient>> open(const AdminTarget& target);

  /// Fails with: unavailable (nobody listens there), deadline_exceeded, or as any call.
  template <class R, class... A>
  Result<R> ask(std::string_view method, const A&... arguments) {
    for (;;) {
      Result<R> answer = ClientFunction<R(A...)>(app_->reference(serializers_.front()), method, true)(arguments...);
      // The process has not loaded this serializer: it says so without running anything.
      if (answer.ok() || answer.error().code() != Errc::unimplemented || serializers_.size() == 1) return answer;
      serializers_.erase(serializers_.begin());
    }
  }
  const std::string& address() const noexcept { return address_; }
  App& app() noexcept { return *app_; }

 private:
  AdminClient(std::string address, std::vector<std::string> serializers, std::unique_ptr<App> app)
      : address_(std::move(address)), serializers_(std::move(serializers)), app_(std::move(app)) {}
  std::string address_;
  std::vector<std::string> serializers_;  // also the references' names; the first is spoken
  std::unique_ptr<App> app_;
};

}  // namespace tenon::cli
