#include "cache_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

namespace tenon::cluster {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished = ".tmp";

/// A file descriptor that closes itself.
class Opened {
 public:
  explicit Opened(int fd) noexcept : fd_(fd) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  const int fd_;
};

Error failed(Errc code, const std::string& path, const std::string& what) {
  return Error(code, path + ' ' + what + ": " + std::strerror(errno), Delivery::not_run);
}

std::uint64_t fnv(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325ull) noexcept {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

std::string hex(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

bool write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace

std::string cache_file_name(const CacheKey& key) {
  constexpr std::size_t shown = 64;
  std::string name;
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const std::string* part :
       {&key.kind, &key.application, &key.registry, &key.service.group, &key.service.interface, &key.service.version})
    hash = fnv(std::to_string(part->size()) + ':' + *part, hash);
  for (const std::string* part : {&key.kind, &key.registry, &key.service.group, &key.service.interface}) {
    for (const char c : *part) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
      if (name.size() < shown && (plain || !name.ends_with('_')))
        name += plain && !(name.empty() && c == '.') ? c : '_';
    }
    if (name.size() < shown) name += '-';
  }
  return name + hex(hash) + ".json";
}

Result<std::string> read_cache_file(const std::string& path) {
  // A link could lead anywhere, and a pipe could keep us waiting.
  const Opened file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return failed(errno == ENOENT ? Errc::not_found : Errc::malformed, path, "cannot be opened");
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return failed(Errc::malformed, path, "cannot be examined");
  if (!S_ISREG(facts.st_mode)) return Error(Errc::malformed, path + " is no regular file", Delivery::not_run);
  const auto too_large = [&path] {
    return Error(Errc::malformed, path + " is larger than " + std::to_string(max_cache_file) + " bytes",
                 Delivery::not_run);
  };
  if (facts.st_size < 0 || static_cast<std::uint64_t>(facts.st_size) > max_cache_file) return too_large();
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(Errc::malformed, path, "cannot be read");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

Result<void> write_cache_file(const std::string& folder, const std::string& name, std::string_view text) {
  const std::string path = folder + '/' + name;
  std::random_device random;
  const std::string fresh =
      folder + '/' + name + '.' + hex(std::uint64_t{random()} << 32 | random()) + std::string(unfinished);
  {
    const Opened file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return failed(Errc::unavailable, fresh, "cannot be created");
    if (!write_all(file.get(), text) || ::fsync(file.get()) != 0) {
      Error error = failed(Errc::unavailable, fresh, "cannot be written");
      ::unlink(fresh.c_str());
      return error;
    }
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    Error error = failed(Errc::unavailable, path, "cannot be replaced");
    ::unlink(fresh.c_str());
    return error;
  }
  // The name, too, should survive a power cut. Where a folder cannot be synced, the file is good all the same.
  if (const Opened directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); directory)
    (void)::fsync(directory.get());
  return {};
}

void remove_cache_leftovers(const std::string& folder) noexcept {
  std::error_code error;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (!name.ends_with(unfinished) || name.find(".json.") == std::string::npos) continue;
    if (at->is_regular_file(ignored) && at->last_write_time(ignored) < old && !ignored) fs::remove(at->path(), ignored);
  }
}

}  // namespace tenon::cluster
