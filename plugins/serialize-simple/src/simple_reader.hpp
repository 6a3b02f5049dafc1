#pragma once
#include <array>

#include "simple_tags.hpp"
#include "tenon/type.hpp"

namespace tenon::simple {

/// Reads one value, or one argument list, from `bytes`, which must stay while they are read. Every length is checked
/// against the bytes that are there before it is believed; nothing is allocated for a length that was only announced.
class SimpleReader final : public Reader {
 public:
  explicit SimpleReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  Kind peek() override;
  bool null() override;
  bool boolean(bool& value) override;
  bool integer(std::int64_t& value, Kind kind) override;
  bool unsigned_integer(std::uint64_t& value, Kind kind) override;
  bool floating(double& value, Kind kind) override;
  bool string(std::string& value) override;
  bool bytes(std::string& value) override;
  bool enumeration(std::int32_t& value, const EnumType& type) override;
  bool duration(std::chrono::nanoseconds& value) override;
  bool begin_list(const Type* element) override;
  bool next_element() override;
  bool begin_map(const Type* key, const Type* value) override;
  bool next_entry() override;
  bool begin_message(const MessageType& type) override;
  const Field* next_field(const MessageType& type) override;
  bool key(std::string& value) override { return string(value); }

  /// After the value: fails when bytes are left.
  void finish();

 private:
  enum class Shape : std::uint8_t { list, map, message, arguments, bare, nothing };
  // Without initialisers: only the levels in use are ever touched.
  struct Level {
    Shape shape;
    Tag implied;           // of the values inside, which then carry none; null: they carry their own
    bool framed;           // it has a length: ends where that says
    bool at_key;           // map: the next value is a key
    std::uint32_t index;   // the next element, entry, field or argument
    const char* outside;   // framed: where what is around it ends
    const Field* field;    // message, arguments: the member being read; null: an unknown one
    std::string_view key;  // map, message: the current entry's key when it is a text
  };

  bool refuse(std::string what);
  bool wrong(Tag found, std::string_view wanted);
  bool missing(std::string_view wanted);
  std::string path() const;

  bool next(Tag& tag, std::string_view wanted);
  bool fixed(std::size_t size, std::uint64_t& bits);
  bool zigzag(int bits, std::int64_t& value);
  bool sized(std::string_view& content);
  bool whole(Tag tag, std::string_view wanted, bool is_unsigned, std::int64_t& value);
  bool skip();

  bool begin(Level level);
  bool begin_framed(Tag tag, Level level);
  void pop();
  bool next_argument(const MessageType& type, const Field*& field);
  bool alone() const;
  Level& top() { return levels_[static_cast<std::size_t>(depth_ - 1)]; }
  const Level& top() const { return levels_[static_cast<std::size_t>(depth_ - 1)]; }
  Tag implied() const { return depth_ > 0 ? top().implied : Tag::null; }

  const char* at_;
  const char* end_;  // of the innermost part that has a length
  std::array<Level, 2 * max_depth + 2> levels_;
  int depth_ = 0;
  int nested_ = 0;
};

}  // namespace tenon::simple
