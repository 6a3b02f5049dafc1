#pragma once
#include <array>
#include <boost/json/value.hpp>

#include "json_writer.hpp"
#include "tenon/type.hpp"

namespace tenon::json {

/// Reads a value from a parsed document, which must stay while it is read. Unknown members are skipped.
class JsonReader final : public Reader {
 public:
  explicit JsonReader(const boost::json::value& document) : next_(&document) {}

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
  enum class Shape : std::uint8_t { object, array, map, arguments, bare };
  struct Level {
    Shape shape = Shape::array;
    std::size_t index = 0;  // the next element, entry or field
    const boost::json::array* array = nullptr;
    const boost::json::object* object = nullptr;
  };
  bool refuse(std::string what);
  bool wrong(std::string_view wanted);
  std::string path() const;
  bool text(std::string_view& value);
  bool done();
  bool begin(Level level);
  void end() { --depth_; }

  const boost::json::value* next_;  // the value to be read
  bool at_key_ = false;             // instead, the key of the current map entry is
  std::array<Level, 2 * max_depth + 2> levels_;
  int depth_ = 0;
};

}  // namespace tenon::json
