// The only file that sees spdlog.

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "log/log.hpp"

namespace tenon {

namespace {

spdlog::level::level_enum level_of(Log::Level level) noexcept {
  switch (level) {
    case Log::Level::trace: return spdlog::level::trace;
    case Log::Level::debug: return spdlog::level::debug;
    case Log::Level::info: return spdlog::level::info;
    case Log::Level::warn: return spdlog::level::warn;
    case Log::Level::error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

Result<std::unique_ptr<Log>> open_log(const LogOptions& options) {
  std::shared_ptr<spdlog::logger> logger;
  try {
    spdlog::sink_ptr sink;
    if (options.file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file);
    }
    // A logger of our own: spdlog's registry of named loggers belongs to the application.
    logger = std::make_shared<spdlog::logger>("tenon", std::move(sink));
    logger->set_formatter(
        std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %-5l %v", spdlog::pattern_time_type::utc));
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::trace);
  } catch (const std::exception& e) {
    return Error(Errc::config, "log.file: " + std::string(e.what()), Delivery::not_run);
  }
  LogSink sink;
  sink.write = [logger](Log::Level level, std::string_view line) {
    logger->log(level_of(level), spdlog::string_view_t(line.data(), line.size()));
  };
  sink.now = [] { return std::chrono::steady_clock::now(); };
  return make_log(options, std::move(sink));
}

}  // namespace tenon
