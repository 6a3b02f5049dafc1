#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "standing.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// A reference's router with the documents it is compiled with: those that came last, and, in place of each that is bad
/// or leaves nobody, the one of its kind that was good last.
/// Threads: the reference's executor.
class Rules final : public std::enable_shared_from_this<Rules> {
 public:
  /// `changed` is called after every change, also while this is being made. REQUIRES: there is a router.
  /// Fails with: what Registry::watch_document() does, other than unimplemented.
  static Result<std::shared_ptr<Rules>> watch(std::shared_ptr<Standing> standing, std::function<void()> changed);

  /// Every registry has said what documents there are, or why it cannot, or has been given up waiting for.
  bool answered() const noexcept { return unanswered_.empty(); }
  /// The registries that have not answered have had time: what they said in an earlier life is used, if it is known.
  void stop_waiting();
  /// The documents changed since a table was compiled with them.
  bool changed() const noexcept { return changed_since_; }
  /// The groups besides the own one whose instances compile() needs.
  const std::set<std::string>& groups();
  /// A table over `members`; null: not even without any documents, which has been logged. With `newest` unset the last
  /// documents are left alone for now: not all they need is known yet.
  std::unique_ptr<Router::Table> compile(const Members& members, bool newest);

 private:
  using Key = std::pair<std::size_t, std::string>;  // registry and kind
  using Documents = std::map<Key, Document>;
  Rules(std::shared_ptr<Standing> standing, std::function<void()> changed);
  void on_document(std::size_t place, const Result<Document>& document);
  bool recall(std::size_t place, const std::string& why);
  void keep();
  Result<std::unique_ptr<Router::Table>> table_of(const Members& members, const Documents& documents) const;
  Documents mended(const Members& members) const;
  void alarm(const std::string& text);
  void report(const Router::Table& table);

  const std::shared_ptr<Standing> standing_;
  const std::shared_ptr<Router> router_;
  const std::function<void()> tell_;
  std::vector<Key> places_;
  std::set<std::size_t> unanswered_;  // of places_
  Documents documents_;
  std::set<Key> unkept_;                         // told by their registry since the cache was
  Documents good_;                               // the last that made a table
  std::optional<std::set<std::string>> groups_;  // nothing: to be asked for
  bool changed_since_ = false;
  std::string alarm_;       // what is wrong now, as it was logged; empty: nothing
  std::string complaints_;  // of the table in force, as they were logged
  std::vector<std::unique_ptr<Watch>> watches_;
};

}  // namespace tenon::cluster
