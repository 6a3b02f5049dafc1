#pragma once
#include <memory>
#include <vector>

#include "board.hpp"
#include "center_options.hpp"
#include "tenon/catalog.hpp"
#include "tenon/functions.hpp"

namespace tenon::center {

/// Service "tenon.Center": a registry's server (README.md, messages.hpp).
/// Threads: as every Service. Its streams may go on after it; they end with `unavailable`.
class Center final : public Service {
 public:
  using Options = CenterOptions;
  /// Fails with: config (numbers out of range; a store that cannot be used).
  static Result<std::unique_ptr<Center>> create(Options options, Environment environment);
  ~Center() override;

  std::string_view interface() const noexcept override { return functions_.interface(); }
  std::span<const Method> methods() const noexcept override { return functions_.methods(); }
  Task<Result<Response>> call(Request& request) override;
  void draining() noexcept override { stop(); }

 private:
  /// Who may call a method.
  enum class For : std::uint8_t { clients, readers, writers };
  Center(Options options, std::shared_ptr<Board> board);
  void stop() noexcept;
  void offer_to_clients();
  void offer_to_operators();
  Result<void> allowed(const Request& request) const;
  template <class F>
  void add(std::string_view name, For who, F function, bool idempotent = true) {
    functions_.add(name, std::move(function), idempotent);
    who_.push_back(who);
  }

  const Options options_;
  const std::shared_ptr<Board> board_;
  Functions functions_;
  std::vector<For> who_;  // by method
  std::atomic<bool> stopped_ = false;
};

}  // namespace tenon::center
