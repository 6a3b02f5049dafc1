#pragma once
#include <array>

#include "msgpack_format.hpp"
#include "tenon/buffer.hpp"
#include "tenon/type.hpp"

namespace tenon::msgpack {

/// Appends the MessagePack of what is written to it. One value, once. Allocates nothing but the output.
class MsgpackWriter final : public Writer {
 public:
  explicit MsgpackWriter(OutBuffer& out) : out_(out) {}

  void null() override;
  void boolean(bool value) override;
  void integer(std::int64_t value, Kind kind) override;
  void unsigned_integer(std::uint64_t value, Kind kind) override;
  void floating(double value, Kind kind) override;
  void string(std::string_view value) override;
  void bytes(std::string_view value) override;
  void enumeration(std::int32_t value, const EnumType&) override { integer(value, Kind::i32); }
  void duration(std::chrono::nanoseconds value) override { integer(value.count(), Kind::i64); }
  void begin_list(std::size_t size, const Type* element) override;
  void end_list() override { end(); }
  void begin_map(std::size_t size, const Type* key, const Type* value) override;
  void end_map() override { end(); }
  void begin_message(const MessageType& type) override;
  void field(const Field& field) override;
  void end_message() override;

 private:
  enum class Shape : std::uint8_t { list, map, message, arguments, bare };
  // Without initialisers: only the levels in use are ever touched.
  struct Level {
    Shape shape;
    bool at_value;         // map: the key has been written
    std::uint32_t count;   // message, arguments, bare: members written
    std::uint32_t fields;  // message, arguments: members there are
    std::size_t start;     // message: where its head is; the count is known at the end only
  };

  void put(std::uint8_t first, std::uint64_t number, int width);
  void text(std::string_view value);
  bool sized(std::uint64_t size, std::uint8_t fix, std::uint64_t fix_limit, std::uint8_t first8, std::uint8_t first16);
  bool begin(Level level, bool nested);
  void end();
  void trail();
  void fill_arguments(Level& level, std::uint32_t upto);
  bool at_key() const;
  Level& top() { return levels_[static_cast<std::size_t>(depth_ - 1)]; }
  const Level& top() const { return levels_[static_cast<std::size_t>(depth_ - 1)]; }

  OutBuffer& out_;
  std::array<Level, 2 * max_depth + 2> levels_;
  int depth_ = 0;
  int nested_ = 0;
};

}  // namespace tenon::msgpack
