#pragma once
// A manifest as a tree of nodes that know where they stand.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/core_export.hpp"

namespace tenon::manifest {

/// Both from 1; columns count bytes. line 0: nowhere.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  auto operator<=>(const Position&) const = default;
};

struct Entry;

/// A value. A null stands at the key (or list) it belongs to, because YAML does not say where "nothing" is.
struct Node {
  enum class Kind : std::uint8_t { null, scalar, list, map };
  Kind kind = Kind::null;
  bool quoted = false;  ///< scalar: quoted or a block, so never a number, a boolean or null
  Position at;
  std::string text;            ///< scalar
  std::vector<Node> elements;  ///< list
  std::vector<Entry> entries;  ///< map, in file order, keys unique

  TENON_CORE const Entry* find(std::string_view key) const noexcept;
};

/// One key of a map. `key` is a scalar.
struct Entry {
  Node key;
  Node value;
};

/// "a list", "a map", "text", … with the scalar's text when that helps: what was found, for messages.
TENON_CORE std::string describe(const Node& node);

/// Mistakes found in one file. Threads: one at a time.
class TENON_CORE Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}
  /// At most 100 are kept.
  void add(Position at, std::string text);
  /// The lines of an error that may carry positions in this file already; those that do not stand at `at`.
  void add_lines(Position at, std::string_view lines);
  bool empty() const noexcept { return found_.empty(); }
  const std::string& file() const noexcept { return file_; }
  /// "file:line:col: text" in the order of the file, joined by newlines.
  std::string text() const;

 private:
  struct Mistake {
    Position at;
    std::string text;
  };
  std::string file_;
  std::vector<Mistake> found_;
  std::size_t dropped_ = 0;
};

/// A whole manifest. Immutable after parsing.
struct Document {
  std::string file;
  Node root;
  /// The node at a path such as "client.references.greeter.timeout" or "server.listen[0].address"; null: not written.
  /// A key that contains '.' or '[' is found too.
  TENON_CORE const Node* find(std::string_view path) const noexcept;
};

/// One node of a document, and how to name it.
struct Place {
  std::shared_ptr<const Document> document;
  const Node* node = nullptr;
  std::string path;  ///< "client.references.greeter"; empty: the root
};

/// "file:line:col".
TENON_CORE std::string at(const Place& place);

}  // namespace tenon::manifest
