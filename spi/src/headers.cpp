#include "tenon/headers.hpp"

#include <algorithm>

namespace tenon {

Headers::Headers(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) set(entry.first, entry.second);
}
Headers::Headers(const Headers& other)
    : entries_(other.entries_ ? std::make_unique<std::vector<Entry>>(*other.entries_) : nullptr) {}
Headers& Headers::operator=(const Headers& other) {
  if (this != &other) entries_ = other.entries_ ? std::make_unique<std::vector<Entry>>(*other.entries_) : nullptr;
  return *this;
}

const std::string* Headers::find(std::string_view key) const noexcept {
  for (const Entry& entry : entries())
    if (entry.first == key) return &entry.second;
  return nullptr;
}

void Headers::set(std::string_view key, std::string_view value) {
  if (!entries_) entries_ = std::make_unique<std::vector<Entry>>();
  for (Entry& entry : *entries_)
    if (entry.first == key) {
      entry.second.assign(value);
      return;
    }
  entries_->emplace_back(key, value);
}

bool Headers::erase(std::string_view key) noexcept {
  if (!entries_) return false;
  return std::erase_if(*entries_, [key](const Entry& entry) { return entry.first == key; }) > 0;
}

bool Headers::operator==(const Headers& other) const noexcept {
  return std::ranges::equal(entries(), other.entries());
}

}  // namespace tenon
