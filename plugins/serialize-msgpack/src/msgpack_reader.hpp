#pragma once
#include <array>
#include <string>

#include "msgpack_format.hpp"
#include "tenon/type.hpp"

namespace tenon::msgpack {

/// Reads one value from `bytes`, which must stay while they are read. Every length and count is compared with the bytes
/// that are there before it is believed; nothing is allocated for what was only announced.
class MsgpackReader final : public Reader {
 public:
  explicit MsgpackReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

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
    bool at_key;           // map: the next value is a key
    std::uint32_t left;    // elements, entries, members or arguments still to come
    std::uint32_t index;   // of the next one
    const Field* field;    // message, arguments: the member being read; null: an unknown one
    std::string_view key;  // map, message: the current entry's key when it is a text
  };

  bool refuse(std::string what);
  bool wrong(const Head& found, std::string_view wanted);
  bool missing(std::string_view wanted);
  std::string path() const;

  bool look(Head& head, std::string_view wanted);
  bool next(Head& head, std::string_view wanted);
  bool content(const Head& head, std::string_view& bytes);
  bool whole(std::int64_t& value, std::int64_t low, std::int64_t high, std::string_view wanted);
  bool fits(const Head& head, std::int64_t low, std::uint64_t high, std::string_view wanted);
  bool skip();
  bool claim(const Head& head, std::uint64_t values);

  bool begin(Shape shape, const Head& head);
  void pop();
  bool next_member(const MessageType& type);
  bool next_argument(const MessageType& type);
  bool alone() const;
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  bool at_key() const { return depth_ > 0 && top().at_key; }
  Level& top() { return levels_[static_cast<std::size_t>(depth_ - 1)]; }
  const Level& top() const { return levels_[static_cast<std::size_t>(depth_ - 1)]; }

  const char* at_;
  const char* const end_;
  std::array<Level, 2 * max_depth + 2> levels_;
  int depth_ = 0;
  int nested_ = 0;
};

}  // namespace tenon::msgpack
