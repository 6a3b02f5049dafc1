#include "access_log.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "access_line.hpp"

namespace tenon::access {

namespace {

constexpr std::uint64_t smallest_file = 4096;
constexpr std::uint64_t largest_value = 64u << 10;

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

// Uniform in [0, 1). One sequence for each thread.
double draw() noexcept {
  static thread_local std::uint64_t state = 0;
  if (state == 0)
    state = reinterpret_cast<std::uintptr_t>(&state) ^
            static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^ 1;
  // splitmix64
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t bits = state;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

}  // namespace

Result<std::unique_ptr<AccessLog>> AccessLog::create(Options options, Environment environment) {
  if (!(options.sample >= 0 && options.sample <= 1)) return refuse("sample goes from 0 to 1");
  if (options.slow.count() < 0) return refuse("slow is negative");
  if (options.max_value.bytes < 8 || options.max_value.bytes > largest_value)
    return refuse("max_value goes from 8 bytes to 64KiB");
  if (options.max_size.bytes != 0 && options.max_size.bytes < smallest_file)
    return refuse("max_size is at least 4KiB; 0: the file grows for ever");
  if (options.max_files > 1000) return refuse("max_files goes to 1000");
  if (options.queue == 0 || options.queue > 1u << 20) return refuse("queue goes from 1 to 1048576");
  std::set<std::string> names;
  for (const std::string& name : options.headers)
    if (name.empty() || !names.insert(name).second)
      return refuse(name.empty() ? "a header has no name" : "header " + name + " is named twice");
  std::shared_ptr<LogFile> file;
  if (!options.file.empty()) {
    auto opened = LogFile::open(options.file, {options.max_size.bytes, options.max_files, options.queue});
    if (!opened.ok()) return std::move(opened).error();
    file = std::move(*opened);
  }
  return std::unique_ptr<AccessLog>(new AccessLog(std::move(options), std::move(file), environment.log));
}

AccessLog::~AccessLog() {
  if (!file_) return;
  const std::shared_ptr<Losses> losses = file_->losses();
  file_.reset();  // writes what waits, if nobody else has it
  try {
    tell(*losses);
  } catch (...) {
    log_.error("access-log", "lines were lost; out of memory for saying how many");
  }
}

bool AccessLog::sampled() const noexcept {
  if (options_.sample >= 1) return true;
  return options_.sample > 0 && draw() < options_.sample;
}

Task<Result<Response>> AccessLog::apply(Request& request, Invoker& next) {
  if (!file_ && !log_.enabled(Log::Level::info)) return next.call(request);
  return record(request, next);
}

Task<Result<Response>> AccessLog::record(Request& request, Invoker& next) {
  const bool chosen = sampled();
  // The call's own beginning costs nothing; a further attempt's is not kept anywhere.
  const bool first = request.info && request.info->attempt == 0;
  const TimePoint started = first ? request.info->started : std::chrono::steady_clock::now();
  Result<Response> result;
  std::exception_ptr thrown;
  try {
    Task<Result<Response>> call = next.call(request);
    result = co_await call;
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) {
    const Error error(Errc::internal, "the handler threw an exception", Delivery::ran);
    write(request, started, std::chrono::steady_clock::now(), &error, nullptr);
    std::rethrow_exception(thrown);
  }
  if (!result.ok()) {
    write(request, started, std::chrono::steady_clock::now(), &result.error(), nullptr);
  } else if (chosen) {
    const TimePoint ended = std::chrono::steady_clock::now();
    if (options_.slow.count() == 0 || ended - started > options_.slow)
      write(request, started, ended, nullptr, &*result);
  }
  co_return std::move(result);
}

void AccessLog::write(const Request& request, TimePoint started, TimePoint ended, const Error* error,
                      const Response* response) noexcept {
  try {
    CallRecord call;
    call.time = std::chrono::system_clock::now();
    call.request = &request;
    call.error = error;
    call.took = std::max(ended - started, Duration{0});
    if (response && response->payload.is_encoded()) call.reply_bytes = response->payload.bytes().size();
    const std::string line = line_of(call, options_.headers, static_cast<std::size_t>(options_.max_value.bytes));
    if (file_) {
      file_->write(line);
      look_at_losses(ended);
    } else {
      log_.info("access", line);
    }
  } catch (...) {
    log_.error("access-log", "a line was not written: out of memory");
  }
}

// At most once a second.
void AccessLog::look_at_losses(TimePoint now) {
  const std::int64_t at = now.time_since_epoch().count();
  std::int64_t next = next_look_.load(std::memory_order_relaxed);
  if (at < next || !next_look_.compare_exchange_strong(next, at + 1'000'000'000, std::memory_order_relaxed)) return;
  tell(*file_->losses());
}

void AccessLog::tell(Losses& losses) {
  const std::uint64_t lost = losses.take();
  if (lost == 0) return;
  log_.warn("access-log", std::to_string(lost) + " lines of " + options_.file +
                              " were lost: calls come faster than they can be written, or the disk is full");
}

}  // namespace tenon::access
