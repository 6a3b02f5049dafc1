#pragma once
// What a connection's two sides remember so that names, encodings and constant header lists travel once.

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "calls.hpp"
#include "tenon/headers.hpp"
#include "tenon/method.hpp"
#include "tenon/same_text.hpp"
#include "wire.hpp"

namespace tenon::wire {

/// group, interface, version, method, serializer, compressor: the order on the wire.
using Names = std::array<std::string_view, 6>;

/// Serializer and compressor pairs seen on a connection, numbered. Views stay valid as long as the object.
class Contents {
 public:
  struct Content {
    std::string serializer;
    std::string compressor;
  };
  /// The pair's number, or no_content when 254 others are known already. Throws std::bad_alloc.
  std::uint8_t intern(std::string_view serializer, std::string_view compressor);
  bool same(std::uint8_t number, std::string_view serializer, std::string_view compressor) const noexcept {
    const Content& content = *contents_[number];
    return same_text(content.serializer, serializer) && same_text(content.compressor, compressor);
  }
  const Content& operator[](std::uint8_t number) const noexcept { return *contents_[number]; }

 private:
  std::vector<std::unique_ptr<Content>> contents_;
};

/// The sender's half of the names dictionary: finds a method's entry by the address of its Target.
class SentNames {
 public:
  struct Entry {
    const Target* target = nullptr;
    const ServiceName* service = nullptr;
    const Method* method = nullptr;
    std::uint16_t id = no_entry;  ///< no_entry: the peer does not know it
    std::uint8_t content = no_content;
  };
  /// The entry of (target, serializer, compressor), new when there was none; null when the table is full or the pair
  /// has no number. Valid until the next find(). Throws std::bad_alloc.
  Entry* find(const Target& target, std::string_view serializer, std::string_view compressor, Contents& contents) {
    if (last_ < entries_.size()) {
      Entry& entry = entries_[last_];
      if (matches(entry, target) && contents.same(entry.content, serializer, compressor)) return &entry;
    }
    return find_slow(target, contents.intern(serializer, compressor));
  }
  /// The entry if it is the one find() found last; else null.
  const Entry* find_last(const Target& target, std::string_view serializer, std::string_view compressor,
                         const Contents& contents) const noexcept {
    if (last_ >= entries_.size()) return nullptr;
    const Entry& entry = entries_[last_];
    return matches(entry, target) && contents.same(entry.content, serializer, compressor) ? &entry : nullptr;
  }
  /// The number to define an entry of `text_bytes` with, or no_entry when the peer need not keep more.
  std::uint16_t next(std::size_t text_bytes) const noexcept;
  /// The entry was sent with next()'s number.
  void defined(Entry& entry, std::size_t text_bytes) noexcept;
  /// The peer said that it does not know entry `id`.
  void forget(std::uint16_t id) noexcept;

 private:
  static bool matches(const Entry& entry, const Target& target) noexcept {
    return entry.target == &target && entry.service == target.service && entry.method == target.method;
  }
  Entry* find_slow(const Target& target, std::uint8_t content);
  void index(std::size_t slots);

  std::vector<Entry> entries_;
  std::vector<std::uint16_t> slots_;  // open addressing: entry number + 1
  std::size_t last_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t forgotten_ = 0;
  std::size_t bytes_ = 0;
};

/// The receiver's half.
class KnownNames {
 public:
  struct Entry {
    std::string text;
    Names names;
    std::uint8_t content = no_content;
  };
  /// The only number the peer may define now.
  std::uint64_t next() const noexcept { return next_; }
  /// Keeps next() = `names`, or only counts it when that would pass the bounds (null then). Throws std::bad_alloc.
  const Entry* define(const Names& names, std::uint8_t content);
  /// Null: unknown.
  const Entry* find(std::uint64_t id) const noexcept { return id < entries_.size() ? entries_[id].get() : nullptr; }

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
  std::uint64_t next_ = 0;
  std::size_t bytes_ = 0;
};

/// The sender's half of the dictionary of whole header lists. The first lists are defined when first sent; when half
/// of the table is used, only lists seen twice are, so that lists that never repeat do not fill it.
class SentLists {
 public:
  static constexpr std::uint32_t eager = max_lists / 2;
  struct Choice {
    EntryRef ref;
    std::uint64_t hash = 0;
    std::uint32_t entry = 0;  ///< position of a known list
  };
  /// How to send `headers`. `bytes` is the size of the encoded list.
  Choice choose(const Headers& headers, std::size_t bytes);
  /// Before a defining choice is sent; throws std::bad_alloc, then nothing changed.
  void prepare(const Headers& headers, Choice& choice);
  /// A defining choice was sent.
  void defined(const Choice& choice, std::size_t bytes) noexcept;
  void forget(std::uint16_t id) noexcept;

 private:
  struct List {
    Headers headers;
    std::uint64_t hash = 0;
    std::uint16_t id = no_entry;
  };
  std::uint32_t lookup(const Headers& headers, std::uint64_t hash) const noexcept;
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  std::vector<List> lists_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::vector<std::uint64_t> seen_;
  std::uint32_t last_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t forgotten_ = 0;
  std::size_t bytes_ = 0;
};

/// The receiver's half.
class KnownLists {
 public:
  std::uint64_t next() const noexcept { return next_; }
  /// Keeps next() = `headers`; only counts it when null is given or the bounds would be passed.
  void define(const Headers* headers, std::size_t bytes);
  /// Null: unknown.
  const Headers* find(std::uint64_t id) const noexcept {
    return id < lists_.size() && !lists_[id].empty() ? &lists_[id] : nullptr;
  }

 private:
  std::vector<Headers> lists_;  // empty: not kept
  std::uint64_t next_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace tenon::wire
