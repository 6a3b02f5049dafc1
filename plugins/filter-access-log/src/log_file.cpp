// The only file that sees spdlog.
#include "log_file.hpp"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>

#include <filesystem>
#include <map>
#include <mutex>

namespace tenon::access {

namespace {

class SpdlogFile;

/// The files that are open, by path. Shared by the process because files are: two writers that put one file aside under
/// each other would lose lines. It owns nothing: an entry leaves with the file's last user.
struct OpenFiles {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<SpdlogFile>> files;
};
OpenFiles& open_files() noexcept {
  static auto* const table = new OpenFiles;  // never destroyed: filters of other threads may outlive main()
  return *table;
}

class SpdlogFile final : public LogFile {
 public:
  SpdlogFile(std::string path, const LogFileOptions& options) : path_(std::move(path)), options_(options) {
    spdlog::sink_ptr sink;
    if (options.max_size == 0) {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path_);
    } else {
      sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path_, options.max_size, options.max_files);
    }
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::utc, "\n"));
    // A pool and a logger of our own: spdlog's registry belongs to the application.
    pool_ = std::make_shared<spdlog::details::thread_pool>(options.queue, 1);
    logger_ = std::make_shared<spdlog::async_logger>("access", std::move(sink), pool_,
                                                     spdlog::async_overflow_policy::overrun_oldest);
    logger_->set_level(spdlog::level::trace);
    logger_->flush_on(spdlog::level::trace);  // in the pool's thread
    logger_->set_error_handler([losses = losses_](const std::string&) { losses->add_failed(); });
  }
  ~SpdlogFile() override {
    losses_->set_dropped(pool_->overrun_counter());
    pool_.reset();  // writes what is queued, and joins its thread, which uses the logger
    logger_.reset();
    OpenFiles& table = open_files();
    const std::lock_guard lock(table.mutex);
    const auto found = table.files.find(path_);
    if (found != table.files.end() && found->second.expired()) table.files.erase(found);
  }

  void write(std::string_view line) noexcept override {
    logger_->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  }
  std::shared_ptr<Losses> losses() noexcept override {
    losses_->set_dropped(pool_->overrun_counter());
    return losses_;
  }
  const LogFileOptions& options() const noexcept { return options_; }

 private:
  const std::string path_;
  const LogFileOptions options_;
  const std::shared_ptr<Losses> losses_ = std::make_shared<Losses>();
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<spdlog::async_logger> logger_;
};

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

}  // namespace

Result<std::shared_ptr<LogFile>> LogFile::open(const std::string& path, const LogFileOptions& options) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) return refuse("file: " + path + ": " + error.message());
  OpenFiles& table = open_files();
  std::unique_lock lock(table.mutex);
  if (const auto found = table.files.find(absolute); found != table.files.end()) {
    if (std::shared_ptr<SpdlogFile> file = found->second.lock()) {
      lock.unlock();  // the last user's end takes it, too
      if (file->options() == options) return std::shared_ptr<LogFile>(std::move(file));
      return refuse("file: " + absolute + " is open already, with another max_size, max_files or queue");
    }
  }
  try {
    auto file = std::make_shared<SpdlogFile>(absolute, options);
    table.files[absolute] = file;
    return std::shared_ptr<LogFile>(std::move(file));
  } catch (const std::exception& e) {
    return refuse("file: " + std::string(e.what()));
  }
}

}  // namespace tenon::access
