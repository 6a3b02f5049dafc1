#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cache_file.hpp"
#include "tenon/log.hpp"

namespace tenon::cluster {

/// What one reference's registries said last, in files of a folder that other references and processes may share
/// (ClusterParts::cache). Files that cannot be read or written are reported and do no other harm.
/// Threads: one; files are written on a thread of its own, which lives while there is something to write.
class Cache {
 public:
  /// Files are written at most once in `pause`. The log outlives it.
  Cache(std::string folder, std::string application, Log& log,
        std::chrono::milliseconds pause = std::chrono::seconds(1));
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  /// Blocking: until what was kept is written.
  ~Cache();

  /// What `registry` named last, which is said in the log together with `why` it is asked for; nothing: not known.
  /// Blocking: reads one file of at most max_cache_file.
  std::optional<std::vector<Instance>> instances(const std::string& registry, const ServiceName& service,
                                                 const std::string& why);
  std::optional<Document> document(const std::string& registry, const std::string& kind, const std::string& group,
                                   const std::string& why);
  /// Remembers what `registry` says now. A registry without a name is none that can be away: nothing is kept.
  void keep(const std::string& registry, const ServiceName& service, std::vector<Instance> instances);
  void keep(const std::string& registry, const Document& document);

 private:
  using Text = std::function<std::string(WallClock::time_point written)>;
  CacheKey list_key(const std::string& registry, const ServiceName& service) const;
  CacheKey document_key(const std::string& registry, const std::string& kind, const std::string& group) const;
  template <class T>
  std::optional<T> read(const CacheKey& key, Result<Cached<T>> (*parse)(const CacheKey&, std::string_view),
                        const std::string& why, const std::function<std::string(const T&)>& what);
  void keep(const CacheKey& key, Text text);
  void write_all() noexcept;
  void write(const std::string& name, const Text& text);

  const std::string folder_;
  const std::string application_;
  Log& log_;
  const std::chrono::milliseconds pause_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Text> waiting_;  // by file name
  bool writing_ = false;                 // the thread is at work or pauses
  bool closing_ = false;
  std::thread thread_;
  // The thread's.
  std::map<std::string, std::size_t> written_;  // hashes of what was written, by file name
  bool tidied_ = false;
  bool failing_ = false;
};

}  // namespace tenon::cluster
