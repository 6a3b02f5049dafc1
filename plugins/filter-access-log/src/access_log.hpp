#pragma once
#include <atomic>
#include <memory>

#include "access_log_options.hpp"
#include "log_file.hpp"
#include "tenon/environment.hpp"
#include "tenon/filter.hpp"

namespace tenon::access {

/// Filter "access-log": one line for each call that passes, on either side (README.md).
class AccessLog final : public Filter {
 public:
  using Options = AccessLogOptions;
  /// Fails with: config (numbers out of range, a header twice, a file that cannot be opened).
  static Result<std::unique_ptr<AccessLog>> create(Options options, Environment environment);
  ~AccessLog() override;

  Task<Result<Response>> apply(Request& request, Invoker& next) override;

 private:
  AccessLog(Options options, std::shared_ptr<LogFile> file, Log& log)
      : options_(std::move(options)), file_(std::move(file)), log_(log) {}
  Task<Result<Response>> record(Request& request, Invoker& next);
  bool sampled() const noexcept;
  void write(const Request& request, TimePoint started, TimePoint ended, const Error* error,
             const Response* response) noexcept;
  void look_at_losses(TimePoint now);
  void tell(Losses& losses);

  const Options options_;
  std::shared_ptr<LogFile> file_;  // null: the application's log
  Log& log_;
  std::atomic<std::int64_t> next_look_{INT64_MIN};  // at the file's losses; steady nanoseconds
};

}  // namespace tenon::access
