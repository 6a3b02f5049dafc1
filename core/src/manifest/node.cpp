#include "manifest/node.hpp"

#include <algorithm>
#include <charconv>

namespace tenon::manifest {

namespace {
constexpr std::size_t max_mistakes = 100;
constexpr std::size_t max_shown = 60;

const Node* descend(const Node& node, std::string_view path) noexcept {
  if (path.empty()) return &node;
  if (node.kind == Node::Kind::list) {
    if (path.front() != '[') return nullptr;
    const std::size_t end = path.find(']');
    if (end == std::string_view::npos || end == 1) return nullptr;
    std::size_t index = 0;
    for (const char c : path.substr(1, end - 1)) {
      if (c < '0' || c > '9' || index > node.elements.size()) return nullptr;
      index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    if (index >= node.elements.size()) return nullptr;
    path.remove_prefix(end + 1);
    if (!path.empty() && path.front() == '.') path.remove_prefix(1);
    return descend(node.elements[index], path);
  }
  for (const Entry& entry : node.entries) {
    const std::string& key = entry.key.text;
    if (!path.starts_with(key)) continue;
    std::string_view rest = path.substr(key.size());
    if (rest.empty()) return &entry.value;
    if (rest.front() == '.') {
      rest.remove_prefix(1);
    } else if (rest.front() != '[') {
      continue;
    }
    if (const Node* found = descend(entry.value, rest)) return found;
  }
  return nullptr;
}
}  // namespace

const Entry* Node::find(std::string_view key) const noexcept {
  for (const Entry& entry : entries)
    if (entry.key.text == key) return &entry;
  return nullptr;
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null: return "nothing";
    case Node::Kind::list: return "a list";
    case Node::Kind::map: return "a map";
    case Node::Kind::scalar: break;
  }
  std::string shown = node.text.substr(0, max_shown);
  if (shown.size() < node.text.size()) shown += "...";
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return '"' + shown + '"';
}

void Diagnostics::add(Position at, std::string text) {
  if (found_.size() == max_mistakes) {
    ++dropped_;
    return;
  }
  found_.push_back({at, std::move(text)});
}

void Diagnostics::add_lines(Position at, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    std::string_view line = lines.substr(0, end);
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
    Position own;
    if (line.starts_with(file_ + ':')) {
      const char* const last = line.data() + line.size();
      const auto first = std::from_chars(line.data() + file_.size() + 1, last, own.line);
      if (first.ec == std::errc() && first.ptr != last && *first.ptr == ':') {
        const auto second = std::from_chars(first.ptr + 1, last, own.column);
        if (second.ec == std::errc() && last - second.ptr > 2 && second.ptr[0] == ':' && second.ptr[1] == ' ') {
          add(own, std::string(second.ptr + 2, last));
          continue;
        }
      }
    }
    add(at, std::string(line));
  }
}

std::string Diagnostics::text() const {
  std::vector<const Mistake*> sorted;
  sorted.reserve(found_.size());
  for (const Mistake& mistake : found_) sorted.push_back(&mistake);
  // By place, then in the order found: elements of one vector lie in that order.
  std::sort(sorted.begin(), sorted.end(), [](const Mistake* a, const Mistake* b) {
    return a->at < b->at || (!(b->at < a->at) && a < b);
  });
  std::string text;
  for (const Mistake* mistake : sorted) {
    if (!text.empty()) text += '\n';
    text += file_ + ':' + std::to_string(mistake->at.line) + ':' + std::to_string(mistake->at.column) + ": " +
            mistake->text;
  }
  if (dropped_ != 0) text += "\n... and " + std::to_string(dropped_) + " more";
  return text;
}

const Node* Document::find(std::string_view path) const noexcept { return descend(root, path); }

std::string at(const Place& place) {
  return place.document->file + ':' + std::to_string(place.node->at.line) + ':' + std::to_string(place.node->at.column);
}

}  // namespace tenon::manifest
