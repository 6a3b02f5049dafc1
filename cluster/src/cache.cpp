#include "cache.hpp"

#include <pthread.h>
#include <signal.h>

#include <ctime>
#include <exception>
#include <system_error>
#include <utility>

namespace tenon::cluster {

namespace {

constexpr const char* instances_kind = "instances";
constexpr const char* document_prefix = "document.";

/// "3 min ago (2026-11-30T15:45:08Z)"
std::string age(const std::string& written) {
  std::tm parts{};
  const char* const end = strptime(written.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (!end || *end != '\0') return "at an unknown time";
  const double seconds = std::difftime(WallClock::to_time_t(WallClock::now()), timegm(&parts));
  const auto count = [](double number) { return std::to_string(static_cast<long long>(number)); };
  std::string text;
  if (seconds < 0)
    text = "in what is the future by this host's clock";
  else if (seconds < 120)
    text = count(seconds) + " s ago";
  else if (seconds < 7200)
    text = count(seconds / 60) + " min ago";
  else if (seconds < 172800)
    text = count(seconds / 3600) + " h ago";
  else
    text = count(seconds / 86400) + " days ago";
  return text + " (" + written + ')';
}

}  // namespace

Cache::Cache(std::string folder, std::string application, Log& log, std::chrono::milliseconds pause)
    : folder_(std::move(folder)), application_(std::move(application)), log_(log), pause_(pause) {}

Cache::~Cache() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

CacheKey Cache::list_key(const std::string& registry, const ServiceName& service) const {
  return {instances_kind, application_, registry, service};
}

CacheKey Cache::document_key(const std::string& registry, const std::string& kind, const std::string& group) const {
  return {document_prefix + kind, application_, registry, {"", group, ""}};
}

template <class T>
std::optional<T> Cache::read(const CacheKey& key, Result<Cached<T>> (*parse)(const CacheKey&, std::string_view),
                             const std::string& why, const std::function<std::string(const T&)>& what) {
  if (key.registry.empty()) return std::nullopt;
  const std::string path = folder_ + '/' + cache_file_name(key);
  const auto text = read_cache_file(path);
  if (!text.ok()) {
    if (text.error().code() != Errc::not_found) log_.warn("cache", why + ", and " + text.error().text());
    return std::nullopt;
  }
  auto cached = parse(key, *text);
  if (!cached.ok()) {
    log_.warn("cache", why + ", and " + path + " is ignored: " + cached.error().text());
    return std::nullopt;
  }
  log_.warn("cache",
            why + "; going on with " + what(cached->content) + " of " + path + ", written " + age(cached->written));
  return std::move(cached->content);
}

std::optional<std::vector<Instance>> Cache::instances(const std::string& registry, const ServiceName& service,
                                                      const std::string& why) {
  return read<std::vector<Instance>>(list_key(registry, service), &instances_of_cache, why, [](const auto& found) {
    return "the " + std::to_string(found.size()) + " instances";
  });
}

std::optional<Document> Cache::document(const std::string& registry, const std::string& kind, const std::string& group,
                                        const std::string& why) {
  auto found = read<Document>(document_key(registry, kind, group), &document_of_cache, why,
                              [&kind](const Document&) { return "the " + kind; });
  if (found) found->kind = kind;
  return found;
}

void Cache::keep(const std::string& registry, const ServiceName& service, std::vector<Instance> instances) {
  CacheKey key = list_key(registry, service);
  keep(key, [key, instances = std::move(instances)](WallClock::time_point written) {
    return to_cache_text(key, instances, written);
  });
}

void Cache::keep(const std::string& registry, const Document& document) {
  CacheKey key = document_key(registry, document.kind, document.group);
  keep(key, [key, document](WallClock::time_point written) { return to_cache_text(key, document, written); });
}

void Cache::keep(const CacheKey& key, Text text) {
  if (key.registry.empty()) return;
  std::unique_lock lock(mutex_);
  waiting_.insert_or_assign(cache_file_name(key), std::move(text));
  if (std::exchange(writing_, true)) return;  // the thread finds it after its pause
  lock.unlock();
  if (thread_.joinable()) thread_.join();  // it has nothing left to do
  // Signals are other threads' business.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { write_all(); });
  } catch (const std::system_error& error) {
    lock.lock();
    writing_ = false;  // the next one tries again
    log_.warn("cache", std::string("no thread to write ") + folder_ + ": " + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Cache::write_all() noexcept {
  std::unique_lock lock(mutex_);
  while (!waiting_.empty()) {
    const auto batch = std::exchange(waiting_, {});
    lock.unlock();
    for (const auto& [name, text] : batch) {
      try {
        write(name, text);
      } catch (const std::exception& exception) {
        log_.warn("cache", folder_ + '/' + name + " is not written: " + exception.what());
      }
    }
    lock.lock();
    changed_.wait_for(lock, pause_, [this] { return closing_; });
  }
  writing_ = false;
}

void Cache::write(const std::string& name, const Text& text) {
  if (!std::exchange(tidied_, true)) remove_cache_leftovers(folder_);
  // The same words at another time are no news.
  const std::size_t hash = std::hash<std::string>()(text({}));
  if (const auto before = written_.find(name); before != written_.end() && before->second == hash) return;
  const std::string fresh = text(WallClock::now());
  Result<void> wrote = fresh.size() > max_cache_file
                           ? Error(Errc::too_large,
                                   folder_ + '/' + name + " would have " + std::to_string(fresh.size()) +
                                       " bytes, more than are read again (" + std::to_string(max_cache_file) + ")",
                                   Delivery::not_run)
                           : write_cache_file(folder_, name, fresh);
  if (wrote.ok()) {
    written_[name] = hash;
    failing_ = false;
  } else if (!std::exchange(failing_, true)) {
    log_.warn("cache", wrote.error().text() + "; what registries say is not kept for the next start");
  }
}

}  // namespace tenon::cluster
