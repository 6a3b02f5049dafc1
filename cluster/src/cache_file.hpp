#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/registry.hpp"

namespace tenon::cluster {

/// What a cache file is about. Two applications that share a folder may call different registries by one name, so each
/// has files of its own.
struct CacheKey {
  std::string kind;  ///< "instances", or that of a document
  std::string application;
  std::string registry;
  ServiceName service;  ///< of a document the group only
};

/// A file that grew beyond this is neither written nor read.
inline constexpr std::size_t max_cache_file = 8u << 20;

/// A name of at most 100 bytes of [A-Za-z0-9._-] that does not begin with a dot, different for every key.
std::string cache_file_name(const CacheKey& key);

using WallClock = std::chrono::system_clock;

/// The file's text. JSON, one instance on a line, the format's version and the key first; `written` is for people.
std::string to_cache_text(const CacheKey& key, const std::vector<Instance>& instances, WallClock::time_point written);
std::string to_cache_text(const CacheKey& key, const Document& document, WallClock::time_point written);

/// What a text says; the time as it stands there.
template <class T>
struct Cached {
  T content;
  std::string written;
};
/// Fail with: malformed (no such file's text, or of a newer format, saying which; instances that make no sense),
/// not_found (it is about something else).
Result<Cached<std::vector<Instance>>> instances_of_cache(const CacheKey& key, std::string_view text);
Result<Cached<Document>> document_of_cache(const CacheKey& key, std::string_view text);

/// Blocking: reads at most max_cache_file. Fails with: not_found, malformed (no regular file, too large, cannot be
/// read).
Result<std::string> read_cache_file(const std::string& path);
/// Readers see the old text or the new one, also after a crash, and whoever else writes. Mode 0600. Blocking: until it
/// is on the disk. Fails with: unavailable.
Result<void> write_cache_file(const std::string& folder, const std::string& name, std::string_view text);
/// Removes what crashed writers left in the folder more than an hour ago.
void remove_cache_leftovers(const std::string& folder) noexcept;

}  // namespace tenon::cluster
