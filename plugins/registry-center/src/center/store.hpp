#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "operator_state.hpp"
#include "tenon/registry.hpp"

struct sqlite3;

namespace tenon::center {

/// Documents and what operators set, in a file of SQLite: write-ahead log, synchronous=FULL. What has been written is
/// there after kill -9 and, as far as the disk keeps its word, after a loss of power; writes are rare enough for that.
///
/// One process at a time: the file stays locked as long as it is open.
/// Threads: one at a time. Blocking: every function waits for the disk.
class Store {
 public:
  /// What was in it at the start.
  struct Contents {
    std::uint64_t epoch = 0;     ///< of this start: higher than that of all starts before
    std::uint64_t sequence = 0;  ///< the highest version a document ever had
    std::vector<Document> documents;
    std::vector<Override> overrides;
  };

  /// Opens center.db in `folder`; makes both if they are missing. The epoch is `clock_epoch`, or more when there has
  /// been a later one. Fails with: config (cannot be opened, damaged, in use, of a later version), saying which file
  /// and what to do; nothing is changed then.
  static Result<std::unique_ptr<Store>> open(const std::string& folder, std::uint64_t clock_epoch, Contents& contents);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  const std::string& file() const noexcept { return file_; }

  // Each is durable when it returns. Fails with: unavailable (disk full, read-only …); nothing has changed then.
  /// One of version 0 is taken out.
  Result<void> put(const Document& document);
  /// One without weight and state is taken out.
  Result<void> put(const Override& chosen);
  Result<void> forget(const InstanceName& of);

 private:
  class Statement;
  explicit Store(std::string file) : file_(std::move(file)) {}
  Result<void> prepare();
  Result<void> load(std::uint64_t clock_epoch, Contents& contents);
  Result<void> execute(std::string_view sql);
  // The first column of the first row.
  Result<std::string> text(std::string_view sql);
  Result<std::int64_t> number(std::string_view sql);
  Result<void> write_document(const Document& document);
  Error broken(const std::string& doing) const;

  const std::string file_;
  sqlite3* database_ = nullptr;
};

}  // namespace tenon::center
