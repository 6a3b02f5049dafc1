#pragma once
#include <array>

#include "simple_tags.hpp"
#include "tenon/buffer.hpp"
#include "tenon/type.hpp"

namespace tenon::simple {

/// Appends the encoding of what is written to it. One value, once. Allocates nothing but the output.
class SimpleWriter final : public Writer {
 public:
  explicit SimpleWriter(OutBuffer& out) : out_(out) {}

  void null() override;
  void boolean(bool value) override;
  void integer(std::int64_t value, Kind kind) override;
  void unsigned_integer(std::uint64_t value, Kind kind) override;
  void floating(double value, Kind kind) override;
  void string(std::string_view value) override;
  void bytes(std::string_view value) override { sized(Tag::bytes, value); }
  void enumeration(std::int32_t value, const EnumType&) override { whole(value, Tag::i32); }
  void duration(std::chrono::nanoseconds value) override { whole(value.count(), Tag::i64); }
  void begin_list(std::size_t size, const Type* element) override;
  void end_list() override { end(); }
  void begin_map(std::size_t size, const Type* key, const Type* value) override;
  void end_map() override { end(); }
  void begin_message(const MessageType& type) override;
  void field(const Field& field) override;
  void end_message() override;

 private:
  enum class Shape : std::uint8_t { list, map, message, arguments, bare, nothing };
  // Without initialisers: only the levels in use are ever touched.
  struct Level {
    Shape shape;
    Tag tag;               // null: nothing stands around it on the wire
    bool only_texts;       // so far; its inner tags can then be dropped at the end
    bool at_value;         // map: the key has been written
    std::uint32_t count;   // arguments, bare: how many were announced
    std::uint32_t fields;  // arguments: how many there are
    std::size_t start;     // of the payload, behind tag and length
  };

  bool lead(Tag tag, std::size_t room);
  void trail();
  void whole(std::int64_t value, Tag tag);
  void sized(Tag tag, std::string_view content);
  bool begin(Level level);
  void end();
  void drop_inner_tags(Level& level);
  void fill_arguments(Level& level, std::uint32_t upto);
  Level& top() { return levels_[static_cast<std::size_t>(depth_ - 1)]; }

  OutBuffer& out_;
  std::array<Level, 2 * max_depth + 2> levels_;
  int depth_ = 0;
  int nested_ = 0;
};

}  // namespace tenon::simple
