#include "dictionary.hpp"

#include <functional>

namespace tenon::wire {
namespace {

// After so many "unknown entry" answers the peer's table is not worth filling; names then travel in full.
constexpr std::uint32_t max_forgotten = 16;

std::uint64_t hash_of(const Headers& headers) noexcept {
  std::uint64_t hash = headers.size();
  for (const auto& [key, value] : headers.entries()) {
    hash = (hash ^ std::hash<std::string_view>()(key)) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ std::hash<std::string_view>()(value)) * 0xBF58476D1CE4E5B9u;
    hash ^= hash >> 31;
  }
  return hash;
}

std::size_t slot_of(const Target* target, std::uint8_t content, std::size_t mask) noexcept {
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(target) * 31 + content;
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 32) & mask;
}

}  // namespace

std::uint8_t Contents::intern(std::string_view serializer, std::string_view compressor) {
  for (std::size_t i = 0; i < contents_.size(); ++i)
    if (same(static_cast<std::uint8_t>(i), serializer, compressor)) return static_cast<std::uint8_t>(i);
  if (contents_.size() == no_content - 1u) return no_content;
  contents_.push_back(std::make_unique<Content>(Content{std::string(serializer), std::string(compressor)}));
  return static_cast<std::uint8_t>(contents_.size() - 1);
}

SentNames::Entry* SentNames::find_slow(const Target& target, std::uint8_t content) {
  if (content == no_content) return nullptr;
  const std::size_t mask = slots_.size() - 1;
  if (!slots_.empty()) {
    for (std::size_t i = slot_of(&target, content, mask); slots_[i] != 0; i = (i + 1) & mask) {
      Entry& entry = entries_[slots_[i] - 1u];
      if (entry.target != &target || entry.content != content) continue;
      if (!matches(entry, target)) {  // the address is used for another method now
        entry.service = target.service;
        entry.method = target.method;
        entry.id = no_entry;
      }
      last_ = slots_[i] - 1u;
      return &entry;
    }
  }
  if (entries_.size() == max_names) return nullptr;
  if ((entries_.size() + 1) * 2 > slots_.size()) index(slots_.empty() ? 16 : slots_.size() * 2);
  entries_.push_back(Entry{&target, target.service, target.method, no_entry, content});
  last_ = entries_.size() - 1;
  std::size_t i = slot_of(&target, content, slots_.size() - 1);
  while (slots_[i] != 0) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = static_cast<std::uint16_t>(entries_.size());
  return &entries_.back();
}

void SentNames::index(std::size_t count) {
  std::vector<std::uint16_t> slots(count, 0);
  for (std::size_t n = 0; n < entries_.size(); ++n) {
    std::size_t i = slot_of(entries_[n].target, entries_[n].content, count - 1);
    while (slots[i] != 0) i = (i + 1) & (count - 1);
    slots[i] = static_cast<std::uint16_t>(n + 1);
  }
  slots_ = std::move(slots);
}

std::uint16_t SentNames::next(std::size_t text_bytes) const noexcept {
  const bool room = next_ < max_names && bytes_ + text_bytes + names_overhead <= max_names_bytes;
  return room && forgotten_ < max_forgotten ? static_cast<std::uint16_t>(next_) : no_entry;
}

void SentNames::defined(Entry& entry, std::size_t text_bytes) noexcept {
  entry.id = static_cast<std::uint16_t>(next_++);
  bytes_ += text_bytes + names_overhead;
}

void SentNames::forget(std::uint16_t id) noexcept {
  for (Entry& entry : entries_)
    if (entry.id == id) {
      entry.id = no_entry;
      ++forgotten_;
    }
}

const KnownNames::Entry* KnownNames::define(const Names& names, std::uint8_t content) {
  std::size_t text_bytes = 0;
  for (const std::string_view name : names) text_bytes += name.size();
  if (next_ >= max_names || bytes_ + text_bytes + names_overhead > max_names_bytes) {
    ++next_;
    return nullptr;
  }
  auto entry = std::make_unique<Entry>();
  entry->text.reserve(text_bytes);
  for (const std::string_view name : names) entry->text += name;
  std::size_t at = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    entry->names[i] = std::string_view(entry->text).substr(at, names[i].size());
    at += names[i].size();
  }
  entry->content = content;
  if (entries_.size() <= next_) entries_.resize(next_ + 1);
  entries_[next_] = std::move(entry);
  bytes_ += text_bytes + names_overhead;
  return entries_[next_++].get();
}

std::uint32_t SentLists::lookup(const Headers& headers, std::uint64_t hash) const noexcept {
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (lists_[it->second].headers == headers) return it->second;
  return none;
}

SentLists::Choice SentLists::choose(const Headers& headers, std::size_t bytes) {
  if (last_ < lists_.size() && lists_[last_].id != no_entry && lists_[last_].headers == headers) {
    return {EntryRef::refer(lists_[last_].id), lists_[last_].hash, last_};
  }
  Choice choice;
  choice.hash = hash_of(headers);
  choice.entry = lookup(headers, choice.hash);
  if (choice.entry != none && lists_[choice.entry].id != no_entry) {
    last_ = choice.entry;
    choice.ref = EntryRef::refer(lists_[choice.entry].id);
    return choice;
  }
  if (next_ >= max_lists || bytes_ + bytes > max_lists_bytes || forgotten_ >= max_forgotten) return choice;
  if (next_ >= eager) {
    if (seen_.empty()) seen_.resize(64);
    std::uint64_t& seen = seen_[choice.hash % 64];
    if (seen != choice.hash) {
      seen = choice.hash;
      return choice;
    }
  }
  choice.ref = EntryRef::define(next_);
  return choice;
}

void SentLists::prepare(const Headers& headers, Choice& choice) {
  if (choice.entry != none) return;  // known once, forgotten by the peer
  lists_.push_back(List{headers, choice.hash, no_entry});
  choice.entry = static_cast<std::uint32_t>(lists_.size() - 1);
  try {
    by_hash_.emplace(choice.hash, choice.entry);
  } catch (...) {
    lists_.pop_back();
    throw;
  }
}

void SentLists::defined(const Choice& choice, std::size_t bytes) noexcept {
  lists_[choice.entry].id = static_cast<std::uint16_t>(next_++);
  bytes_ += bytes;
  last_ = choice.entry;
}

void SentLists::forget(std::uint16_t id) noexcept {
  for (List& list : lists_)
    if (list.id == id) {
      list.id = no_entry;
      ++forgotten_;
    }
}

void KnownLists::define(const Headers* headers, std::size_t bytes) {
  const std::uint64_t id = next_++;
  if (headers == nullptr || headers->empty() || id >= max_lists || bytes_ + bytes > max_lists_bytes) return;
  if (lists_.size() <= id) lists_.resize(id + 1);
  lists_[id] = *headers;
  bytes_ += bytes;
}

}  // namespace tenon::wire
