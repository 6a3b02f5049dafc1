#include "store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>

namespace tenon::center {

namespace {

constexpr std::int64_t application = 0x54434E31;  // "TCN1": whose file it is
constexpr std::int64_t schema = 1;
constexpr int patience_ms = 2000;  // for a process that is just ending

constexpr std::string_view tables = R"(
  CREATE TABLE numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
  CREATE TABLE documents (kind TEXT NOT NULL, grp TEXT NOT NULL, text TEXT NOT NULL, version INTEGER NOT NULL,
                          PRIMARY KEY (kind, grp));
  CREATE TABLE operator_state (interface TEXT NOT NULL, grp TEXT NOT NULL, version TEXT NOT NULL, id TEXT NOT NULL,
                               weight INTEGER, serving INTEGER,
                               PRIMARY KEY (interface, grp, version, id)) WITHOUT ROWID;
  INSERT INTO numbers VALUES ('epoch', 0), ('sequence', 0);
)";

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

}  // namespace

/// One SQL statement with its values. An error of preparing or binding shows in run().
class Store::Statement {
 public:
  Statement(sqlite3* database, std::string_view sql) {
    status_ = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& bind(const std::string& text) {
    return bound(sqlite3_bind_text64(statement_, next_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  Statement& bind(std::uint64_t number) {
    return bound(sqlite3_bind_int64(statement_, next_, static_cast<std::int64_t>(number)));
  }
  template <class T>
  Statement& bind_optional(const std::optional<T>& value) {
    return value ? bind(static_cast<std::uint64_t>(*value)) : bound(sqlite3_bind_null(statement_, next_));
  }
  /// True: there is a row. False: it is over, or failed: see ok().
  bool step() {
    if (status_ != SQLITE_OK && status_ != SQLITE_ROW) return false;
    status_ = sqlite3_step(statement_);
    return status_ == SQLITE_ROW;
  }
  bool ok() const noexcept { return status_ == SQLITE_OK || status_ == SQLITE_ROW || status_ == SQLITE_DONE; }
  std::string text(int column) {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))) : "";
  }
  std::uint64_t number(int column) { return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column)); }
  bool is_null(int column) { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

 private:
  Statement& bound(int status) noexcept {
    if (status_ == SQLITE_OK) status_ = status;
    ++next_;
    return *this;
  }
  sqlite3_stmt* statement_ = nullptr;
  int status_ = SQLITE_OK;
  int next_ = 1;
};

Store::~Store() { sqlite3_close(database_); }

// What SQLite says of its last failure.
Error Store::broken(const std::string& doing) const {
  return Error(Errc::unavailable, "center store " + file_ + ": " + doing + ": " + sqlite3_errmsg(database_),
               Delivery::not_run, Advice::never);
}

Result<void> Store::execute(std::string_view sql) {
  if (sqlite3_exec(database_, std::string(sql).c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return broken("it cannot be used");
}

Result<std::string> Store::text(std::string_view sql) {
  Statement statement(database_, sql);
  if (!statement.step()) return broken("it cannot be read");
  return statement.text(0);
}

Result<std::int64_t> Store::number(std::string_view sql) {
  Statement statement(database_, sql);
  if (!statement.step()) return broken("it cannot be read");
  return static_cast<std::int64_t>(statement.number(0));
}

Result<std::unique_ptr<Store>> Store::open(const std::string& folder, std::uint64_t clock_epoch, Contents& contents) {
  std::error_code failed;
  if (std::filesystem::create_directory(folder, failed))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  if (failed) return refuse("center store " + folder + ": the folder cannot be made: " + failed.message());
  auto store = std::unique_ptr<Store>(new Store((std::filesystem::path(folder) / "center.db").string()));
  constexpr int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int status = sqlite3_open_v2(store->file_.c_str(), &store->database_, how, nullptr);
  Result<void> usable = status == SQLITE_OK ? store->prepare() : store->broken("it cannot be opened");
  if (usable.ok()) usable = store->load(clock_epoch, contents);
  if (usable.ok()) return store;
  const int why = sqlite3_errcode(store->database_);
  std::string text = usable.error().text();
  if (why == SQLITE_BUSY || why == SQLITE_LOCKED)
    text += "; another process uses it: a store belongs to one center";
  else if (why == SQLITE_NOTADB || why == SQLITE_CORRUPT)
    text += "; it is damaged: put a copy in its place, or move center.db* away to begin without documents";
  return refuse(std::move(text));
}

Result<void> Store::prepare() {
  sqlite3_busy_timeout(database_, patience_ms);
  sqlite3_extended_result_codes(database_, 0);
  // The lock before the log: whoever comes second touches nothing.
  for (const std::string_view first : {"PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE; COMMIT"})
    if (auto done = execute(first); !done.ok()) return done;
  auto found = text("PRAGMA quick_check(1)");
  if (!found.ok()) return std::move(found).error();
  if (*found != "ok")
    return refuse("center store " + file_ + ": it is damaged (" + *found +
                  "): put a copy in its place, or move center.db* away to begin without documents");
  auto whose = number("PRAGMA application_id");
  if (!whose.ok()) return std::move(whose).error();
  auto version = number("PRAGMA user_version");
  if (!version.ok()) return std::move(version).error();
  auto used = number("SELECT count(*) FROM sqlite_schema");
  if (!used.ok()) return std::move(used).error();
  const bool is_new = *whose == 0 && *version == 0 && *used == 0;
  if (!is_new && *whose != application) return refuse("center store " + file_ + ": this is somebody else's database");
  if (!is_new && *version != schema)
    return refuse("center store " + file_ + ": it has the format " + std::to_string(*version) +
                  ", this center knows format " + std::to_string(schema) + "; use the center that wrote it");
  auto mode = text("PRAGMA journal_mode=WAL");
  if (!mode.ok()) return std::move(mode).error();
  if (*mode != "wal") return refuse("center store " + file_ + ": this file system cannot hold it; use a local one");
  if (auto done = execute("PRAGMA synchronous=FULL"); !done.ok() || !is_new) return done;
  return execute("BEGIN EXCLUSIVE;" + std::string(tables) + "PRAGMA application_id=" + std::to_string(application) +
                 "; PRAGMA user_version=" + std::to_string(schema) + "; COMMIT");
}

Result<void> Store::load(std::uint64_t clock_epoch, Contents& contents) {
  auto last = number("SELECT value FROM numbers WHERE name='epoch'");
  if (!last.ok()) return std::move(last).error();
  contents.epoch = std::max(static_cast<std::uint64_t>(*last) + 1, clock_epoch);
  Statement started(database_, "UPDATE numbers SET value=? WHERE name='epoch'");
  started.bind(contents.epoch).step();
  if (!started.ok()) return broken("it cannot be written");
  auto sequence = number("SELECT value FROM numbers WHERE name='sequence'");
  if (!sequence.ok()) return std::move(sequence).error();
  contents.sequence = static_cast<std::uint64_t>(*sequence);

  Statement documents(database_, "SELECT kind, grp, text, version FROM documents");
  while (documents.step())
    contents.documents.push_back({documents.text(0), documents.text(1), documents.text(2), documents.number(3)});
  if (!documents.ok()) return broken("documents cannot be read");
  Statement rows(database_, "SELECT interface, grp, version, id, weight, serving FROM operator_state");
  while (rows.step()) {
    Override chosen;
    chosen.of = {{rows.text(0), rows.text(1), rows.text(2)}, rows.text(3)};
    if (!rows.is_null(4)) chosen.weight = static_cast<std::uint32_t>(rows.number(4));
    if (!rows.is_null(5)) chosen.serving = rows.number(5) != 0;
    contents.overrides.push_back(std::move(chosen));
  }
  return rows.ok() ? Result<void>() : Result<void>(broken("what operators have set cannot be read"));
}

Result<void> Store::put(const Document& document) {
  if (auto begun = execute("BEGIN IMMEDIATE"); !begun.ok()) return begun;
  Result<void> done = write_document(document);
  if (done.ok()) done = execute("COMMIT");
  // Some failures have rolled it back already.
  if (!done.ok() && sqlite3_get_autocommit(database_) == 0)
    sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

Result<void> Store::write_document(const Document& document) {
  if (document.version == 0) {
    Statement out(database_, "DELETE FROM documents WHERE kind=? AND grp=?");
    out.bind(document.kind).bind(document.group).step();
    return out.ok() ? Result<void>() : Result<void>(broken("a document cannot be removed"));
  }
  Statement in(database_, "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)");
  in.bind(document.kind).bind(document.group).bind(document.text).bind(document.version).step();
  if (!in.ok()) return broken("a document cannot be written");
  Statement sequence(database_, "UPDATE numbers SET value=max(value, ?) WHERE name='sequence'");
  sequence.bind(document.version).step();
  return sequence.ok() ? Result<void>() : Result<void>(broken("a document cannot be written"));
}

Result<void> Store::put(const Override& chosen) {
  if (!chosen.weight && !chosen.serving) return forget(chosen.of);
  Statement in(database_, "INSERT OR REPLACE INTO operator_state VALUES (?, ?, ?, ?, ?, ?)");
  const ServiceName& service = chosen.of.service;
  in.bind(service.interface).bind(service.group).bind(service.version).bind(chosen.of.id);
  in.bind_optional(chosen.weight).bind_optional(chosen.serving).step();
  return in.ok() ? Result<void>() : Result<void>(broken("what an operator set cannot be written"));
}

Result<void> Store::forget(const InstanceName& of) {
  Statement out(database_, "DELETE FROM operator_state WHERE interface=? AND grp=? AND version=? AND id=?");
  out.bind(of.service.interface).bind(of.service.group).bind(of.service.version).bind(of.id).step();
  return out.ok() ? Result<void>() : Result<void>(broken("what an operator set cannot be taken out"));
}

}  // namespace tenon::center
