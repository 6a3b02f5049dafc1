#include "credential_store.hpp"

namespace tenon::tls {

bool CredentialStore::Seen::operator==(const Seen& other) const noexcept {
  return device == other.device && inode == other.inode && size == other.size &&
         modified.tv_sec == other.modified.tv_sec && modified.tv_nsec == other.modified.tv_nsec;
}

CredentialStore::AllSeen CredentialStore::look() const {
  AllSeen seen;
  std::size_t at = 0;
  for (const std::string* file : {&options_.certificate, &options_.key, &options_.ca}) {
    struct stat found {};
    if (!file->empty() && ::stat(file->c_str(), &found) == 0)
      seen[at] = {found.st_dev, found.st_ino, found.st_size, found.st_mtim};
    ++at;
  }
  return seen;
}

Result<std::unique_ptr<CredentialStore>> CredentialStore::open(const TlsOptions& options, Log& log) {
  std::unique_ptr<CredentialStore> store(new CredentialStore(options, log));
  store->seen_ = store->look();  // before they are read: a change meanwhile is seen next time
  auto loaded = load_credentials(options, log);
  if (!loaded.ok()) return std::move(loaded).error();
  store->credentials_ = std::move(*loaded);
  return store;
}

Credentials CredentialStore::current(TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (options_.reload.count() == 0 || now < next_look_) return credentials_;
  next_look_ = now + options_.reload;
  const AllSeen seen = look();
  if (seen == seen_) return credentials_;
  seen_ = seen;
  auto loaded = load_credentials(options_, log_);
  if (loaded.ok()) {
    credentials_ = std::move(*loaded);
    log_.info("tls-reload", "certificate files changed and are in use for new connections" +
                                (options_.certificate.empty() ? std::string() : ": " + options_.certificate));
  } else {
    log_.warn("tls-reload", loaded.error().text() + "; new connections go on with what was read before");
  }
  return credentials_;
}

}  // namespace tenon::tls
