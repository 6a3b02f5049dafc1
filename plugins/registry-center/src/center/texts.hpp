#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tenon/registry.hpp"
#include "watcher.hpp"

namespace tenon::center {

/// One document, there or not, and who watches it.
struct Text {
  std::shared_ptr<const Document> document;  ///< one that is not there: version 0 and no text
  std::set<Watcher*> watchers;
};

/// Documents. Versions are one counter for all of them, so that one that comes again after it was removed is another.
/// A change is planned, made durable and then applied, one after the other. Pure: no clock, no lock.
class Texts {
 public:
  Texts(std::size_t max_documents, std::size_t max_bytes) : max_documents_(max_documents), max_bytes_(max_bytes) {}

  /// Those of the store, and the highest version ever given.
  void load(std::vector<Document> documents, std::uint64_t sequence);

  Document read(const std::string& kind, const std::string& group) const;
  /// The document as it will be. Fails with: already_exists (another version), overloaded (too many, too much).
  Result<Document> plan_write(const Document& document) const;
  /// What will be left: version 0. Fails with: already_exists, not_found.
  Result<Document> plan_remove(const Document& document) const;
  /// Puts what was planned into place, and tells watchers.
  void apply(Document planned);

  std::size_t size() const noexcept { return there_; }
  void groups(std::set<std::string>& into) const;

  void watch(Watcher& watcher, const std::string& kind, const std::string& group);
  void leave(Watcher& watcher) noexcept;

 private:
  using Name = std::pair<std::string, std::string>;  // kind, group
  const Document* find(const std::string& kind, const std::string& group) const;
  Text& open(const Name& name);

  const std::size_t max_documents_;
  const std::size_t max_bytes_;
  std::map<Name, Text> texts_;
  std::uint64_t sequence_ = 0;
  std::size_t there_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace tenon::center
