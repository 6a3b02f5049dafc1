#pragma once
#include <array>

#include "tenon/buffer.hpp"
#include "tenon/type.hpp"

namespace tenon::json {

inline constexpr int max_depth = 64;

/// Appends the JSON of what is written to it. One value, once.
class JsonWriter final : public Writer {
 public:
  explicit JsonWriter(OutBuffer& out) : out_(out) {}

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
  void end_list() override { end(']'); }
  void begin_map(std::size_t size, const Type* key, const Type* value) override;
  void end_map() override { end('}'); }
  void begin_message(const MessageType& type) override;
  void field(const Field& field) override;
  void end_message() override;

 private:
  enum class Shape : std::uint8_t { object, array, map, arguments, bare };
  struct Level {
    Shape shape = Shape::array;
    bool at_value = false;   // map: the key has been written
    std::size_t count = 0;   // elements, entries or fields written
    std::size_t fields = 0;  // arguments: how many there are
  };
  // Puts what stands between the previous value and the next one. `as_key`: the next value becomes a map key and must
  // stand in quotes. False: already failed.
  bool lead(bool& as_key);
  void plain(std::string_view text);
  void quoted(std::string_view text);
  bool begin(Shape shape, std::string_view opening);
  void end(char closing);
  void trail();

  OutBuffer& out_;
  std::array<Level, 2 * max_depth + 2> levels_;
  int depth_ = 0;
  int nested_ = 0;
};

}  // namespace tenon::json
