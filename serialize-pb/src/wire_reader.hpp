#pragma once
#include <array>

#include "tenon/type.hpp"
#include "wire.hpp"

namespace tenon::pb {

/// Reads one protobuf message from `bytes`, which must stay while it is read. Everything is checked against the bytes
/// that are there before it is believed; nothing is allocated for a count or length that was only announced.
class WireReader final : public Reader {
 public:
  explicit WireReader(std::string_view bytes) : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

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

 private:
  enum class Shape : std::uint8_t { message, list, map };
  // A composite being read: the bytes up to `end` are its own, reading goes on at `resume` after it.
  struct Level {
    Shape shape = Shape::message;
    bool one = false;              // list, map: a single occurrence of a repeated field, not a message of field 1s
    bool done = false;             // one: it has been delivered
    std::uint8_t entry_state = 0;  // map: 1 key is next, 2 value is next
    Wire wire = Wire::bytes;       // one: its wire type
    bool packed = false;           // elements lie without tags up to packed_end
    const char* end = nullptr;
    const char* resume = nullptr;
    const char* packed_end = nullptr;
    const char* entry_end = nullptr;  // map: the current entry
    const char* value_at = nullptr;   // map: its value, null: missing
    Wire value_wire = Wire::bytes;
    const Type* type = nullptr;  // list: elements'; map: values'
    const Type* key = nullptr;
  };
  // The value that is read next.
  struct Slot {
    const Type* type = nullptr;
    Wire wire = Wire::bytes;
    bool missing = false;  // a map entry without it: the zero value
    bool wrapped = false;  // stands in a message of its own that is not opened yet
    bool dynamic = false;  // stands in a dynamic value's message that is not opened yet
    bool known = false;    // opened dynamic value: of this kind
    Kind kind = Kind::null;
    const char* resume = nullptr;  // where to go on after it, when not right behind it
  };

  bool broken(std::string what);
  bool varint(std::uint64_t& value);
  bool length(const char*& end);
  bool read_tag(std::uint32_t& number, Wire& wire);
  bool skip(Wire wire, std::uint32_t number);
  bool find_last(const char* end, std::uint32_t low, std::uint32_t high, std::uint32_t& number, Wire& wire,
                 const char*& where);
  void set_slot(const Type* type, Wire wire, Place place);
  bool resolve();
  bool ready(Wire wanted, bool& zero);
  bool done_value();
  bool pop();
  bool push(Level level);
  bool open_entry(const char* entry_end);
  bool scalar_bytes(std::string& value);

  const char* begin_;
  const char* at_;
  const char* end_;  // of the innermost composite
  Slot slot_;
  std::array<Level, 3 * max_depth> levels_;
  int depth_ = 0;
  int nested_ = 0;
};

}  // namespace tenon::pb
