#include "manifest/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>

namespace tenon::manifest {

namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_size = 1u << 20;
constexpr std::size_t max_entries = 10000;  // of one map: looking for duplicates is quadratic

Position position(const YAML::Mark& mark) {
  return {static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
}

// Length of the UTF-8 sequence at the front of `text`; 0: there is none.
std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                             : (first & 0xf0) == 0xe0         ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

// Drops a byte order mark and turns CRLF into LF. Refuses what is not text.
std::string cleaned(std::string_view text, Diagnostics& diagnostics) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string clean;
  clean.reserve(text.size());
  Position at{1, 1};
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    const auto c = static_cast<unsigned char>(text[i]);
    if (length == 0) {
      diagnostics.add(at, "this byte is not UTF-8 text; save the file as UTF-8");
      return {};
    }
    if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      continue;
    }
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      std::array<char, 8> hex{};
      std::snprintf(hex.data(), hex.size(), "0x%02x", c);
      diagnostics.add(at, std::string("control character ") + hex.data() + " is not allowed in a manifest");
      return {};
    }
    clean.append(text, i, length);
    i += length;
    if (c == '\n') {
      ++at.line;
      at.column = 1;
    } else {
      at.column += static_cast<std::uint32_t>(length);
    }
  }
  return clean;
}

// Thrown to end a parse whose mistake is in the Diagnostics already.
struct Stop {};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, Node& root, Diagnostics& diagnostics)
      : text_(text), root_(root), diagnostics_(diagnostics) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    refuse(mark, "anchors are not supported in a manifest (&" + name + ")");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases are not supported in a manifest; write the value again");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    no_anchor(mark, anchor);
    Node node;
    node.at = position(mark);
    place(std::move(node), mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    no_anchor(mark, anchor);
    no_tag(mark, tag);
    Node node;
    node.kind = Node::Kind::scalar;
    node.quoted = tag == "!";
    node.at = position(mark);
    node.text = value;
    if (node.quoted && !closed(static_cast<std::size_t>(mark.pos)))
      refuse(mark, "this quoted text has no closing quote");
    place(std::move(node), mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Node node;
    std::optional<Node> key;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string text) {
    diagnostics_.add(position(mark), std::move(text));
    throw Stop();
  }
  void no_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "anchors are not supported in a manifest");
  }
  void no_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "tags are not supported in a manifest (" + tag + ")");
  }
  // yaml-cpp takes the end of the file for a closing quote.
  bool closed(std::size_t at) const noexcept {
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return true;
    const char quote = text_[at];
    for (++at; at < text_.size(); ++at) {
      if (quote == '"' && text_[at] == '\\') {
        ++at;
      } else if (text_[at] == quote) {
        if (quote == '"' || at + 1 >= text_.size() || text_[at + 1] != quote) return true;
        ++at;
      }
    }
    return false;
  }
  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    no_anchor(mark, anchor);
    no_tag(mark, tag);
    if (!levels_.empty() && levels_.back().node.kind == Node::Kind::map && !levels_.back().key)
      refuse(mark, "a key must be a plain text, not a list or a map");
    if (levels_.size() == max_depth) refuse(mark, "nested more than " + std::to_string(max_depth) + " levels deep");
    Level level;
    level.node.kind = kind;
    level.node.at = position(mark);
    levels_.push_back(std::move(level));
  }
  void close() {
    Node node = std::move(levels_.back().node);
    levels_.pop_back();
    attach(std::move(node));
  }
  void place(Node node, const YAML::Mark& mark) {
    if (!levels_.empty() && levels_.back().node.kind == Node::Kind::map && !levels_.back().key) {
      if (node.kind != Node::Kind::scalar) refuse(mark, "a key must be a plain text, not nothing");
      if (node.text == "<<" && !node.quoted) refuse(mark, "merge keys (<<) are not supported in a manifest");
      levels_.back().key = std::move(node);
      return;
    }
    attach(std::move(node));
  }
  void attach(Node node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.kind == Node::Kind::list) {
      level.node.elements.push_back(std::move(node));
      return;
    }
    Node key = *std::move(level.key);
    level.key.reset();
    if (const Entry* first = level.node.find(key.text)) {
      diagnostics_.add(key.at,
                       "duplicate key \"" + key.text + "\", first given at line " + std::to_string(first->key.at.line));
      return;
    }
    if (level.node.entries.size() == max_entries) {
      diagnostics_.add(key.at, "a map has at most " + std::to_string(max_entries) + " keys");
      throw Stop();
    }
    if (node.kind == Node::Kind::null) node.at = key.at;
    level.node.entries.push_back({std::move(key), std::move(node)});
  }

  std::string_view text_;
  Node& root_;
  Diagnostics& diagnostics_;
  std::vector<Level> levels_;
};

// Notices a second document without reading it into the tree.
class SecondDocument final : public YAML::EventHandler {
 public:
  explicit SecondDocument(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  void OnDocumentStart(const YAML::Mark& mark) override {
    diagnostics_.add(position(mark), "a manifest is one YAML document; a second one starts here");
    throw Stop();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  Diagnostics& diagnostics_;
};

// yaml-cpp reports a tab as something else. True if the line of `at` is indented with one.
bool indented_with_tab(std::string_view text, Position at) {
  for (std::uint32_t line = 1; line < at.line && !text.empty(); ++line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const std::size_t end = text.find_first_not_of(" \t");
  return text.substr(0, end).find('\t') != std::string_view::npos;
}

Error refusal(const Diagnostics& diagnostics) { return Error(Errc::config, diagnostics.text(), Delivery::not_run); }

}  // namespace

Result<std::shared_ptr<const Document>> parse_yaml(const std::string& file, std::string_view text) {
  Diagnostics diagnostics(file);
  if (text.size() > max_size) {
    diagnostics.add({1, 1}, "the manifest has " + std::to_string(text.size()) + " bytes; the limit is 1 MiB");
    return refusal(diagnostics);
  }
  const std::string clean = cleaned(text, diagnostics);
  if (!diagnostics.empty()) return refusal(diagnostics);
  auto document = std::make_shared<Document>();
  document->file = file;
  document->root.at = {1, 1};
  try {
    std::istringstream stream(clean);
    YAML::Parser parser(stream);
    TreeBuilder builder(clean, document->root, diagnostics);
    if (parser.HandleNextDocument(builder)) {
      SecondDocument second(diagnostics);
      parser.HandleNextDocument(second);
    }
  } catch (const Stop&) {
    // told already
  } catch (const YAML::Exception& e) {
    const Position at = e.mark.is_null() ? Position{1, 1} : position(e.mark);
    if (indented_with_tab(clean, at)) {
      diagnostics.add({at.line, 1}, "this line is indented with a tab; YAML wants spaces");
    } else {
      diagnostics.add(at, e.msg == "bad file" ? "nested too deep for YAML" : "this is not valid YAML: " + e.msg);
    }
  }
  if (!diagnostics.empty()) return refusal(diagnostics);
  return std::shared_ptr<const Document>(std::move(document));
}

Result<std::string> read_text(const std::string& path) {
  const auto failed = [&](const std::string& why) {
    return Error(Errc::config, path + ": cannot read the manifest: " + why, Delivery::not_run);
  };
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return failed(std::strerror(errno));
  std::string text(max_size + 1, '\0');
  errno = 0;
  const std::size_t size = std::fread(text.data(), 1, text.size(), file.get());
  if (std::ferror(file.get()) != 0) return failed(std::strerror(errno));
  if (size > max_size) return failed("it is larger than 1 MiB");
  text.resize(size);
  return text;
}

}  // namespace tenon::manifest
