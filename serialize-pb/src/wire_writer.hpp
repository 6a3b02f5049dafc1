#pragma once
#include <array>

#include "tenon/buffer.hpp"
#include "tenon/type.hpp"
#include "wire.hpp"

namespace tenon::pb {

/// Appends the protobuf encoding of what is written to it. One message, once.
class WireWriter final : public Writer {
 public:
  explicit WireWriter(OutBuffer& out) : out_(out) {}

  void null() override;
  void boolean(bool value) override;
  void integer(std::int64_t value, Kind kind) override;
  void unsigned_integer(std::uint64_t value, Kind kind) override;
  void floating(double value, Kind kind) override;
  void string(std::string_view value) override;
  void bytes(std::string_view value) override;
  void enumeration(std::int32_t value, const EnumType& type) override;
  void duration(std::chrono::nanoseconds value) override;
  void begin_list(std::size_t size, const Type* element) override;
  void end_list() override { end(); }
  void begin_map(std::size_t size, const Type* key, const Type* value) override;
  void end_map() override { end(); }
  void begin_message(const MessageType& type) override;
  void field(const Field& field) override;
  void end_message() override { end(); }

 private:
  enum class Shape : std::uint8_t { message, packed, repeated, map };
  struct Level {
    Shape shape = Shape::message;
    bool at_value = false;       // map: the key has been written
    std::uint8_t to_close = 0;   // length-delimited parts to close at its end
    std::uint32_t number = 0;    // repeated, map: the field's number; message: the announced field's
    const Type* type = nullptr;  // message: the announced field's type; list: its elements'; map: its values'
    const Type* key = nullptr;   // map
  };
  // Where the next value goes: its field number, and how many parts were opened around it.
  struct Spot {
    std::uint32_t number = 0;
    std::uint8_t opened = 0;
    bool tagged = true;
  };

  bool place(Kind kind, Spot& spot);
  void leave(int opened);
  bool scalar(Kind kind, Wire wire, Spot& spot);
  void varint(std::uint64_t value);
  void tag(std::uint32_t number, Wire wire) { varint(std::uint64_t{number} << 3 | static_cast<std::uint8_t>(wire)); }
  bool open(std::uint32_t number);
  void close();
  bool push(Level level);
  void end();
  void text(std::string_view value, Kind kind);

  OutBuffer& out_;
  std::array<Level, 3 * max_depth> levels_;
  std::array<std::size_t, 3 * max_depth> starts_;  // where each open part's length byte is
  int depth_ = 0;
  int open_ = 0;
};

}  // namespace tenon::pb
