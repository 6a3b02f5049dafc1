#pragma once
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/type.hpp"

namespace tenon::cluster::routing {

/// Walks a parsed JSON value as the manifest walks YAML: unknown members are errors, a text where a list of texts is
/// wanted is its only one, numbers and booleans are texts where one is wanted, null is as if it were not there. The
/// error says where: "rules[2].when[0].from: …" (malformed).
/// Ownership: borrows the value.
class JsonReader final : public Reader {
 public:
  explicit JsonReader(const boost::json::value& value) noexcept : next_(&value) {}

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
  bool key(std::string& value) override;

 private:
  struct Level {
    const boost::json::value* node;
    std::size_t next;
    std::size_t path;  // how long the path is outside
  };
  bool expect(std::string_view what);
  bool wrong(const std::string& why);
  bool leave();

  const boost::json::value* next_;
  std::vector<Level> levels_;
  std::string path_;
};

}  // namespace tenon::cluster::routing
