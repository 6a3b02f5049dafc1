#pragma once
#include <string>
#include <utility>
#include <vector>

#include "pair.hpp"

namespace tenon::motan2::test {

/// One frame of samples.txt: what it says, and its bytes.
struct Sample {
  std::string name;
  bool is_request = false;
  unsigned type = 0, status = 0, serializer = 0;
  std::uint64_t id = 0;
  std::vector<std::pair<std::string, std::string>> metadata;  ///< without M_e
  std::optional<std::string> value;                           ///< what describe() says of the body
  std::int64_t errcode = 0, errtype = 0;                      ///< with status 1
  std::string errmsg;
  std::string bytes;

  bool heartbeat() const { return (type & 0x10) != 0; }
  /// The value of `key`, "" when it is not there.
  std::string find(std::string_view key) const;
  /// The metadata without M_e and those in `without`.
  std::map<std::string, std::string> pairs(std::initializer_list<std::string_view> without = {}) const;
};

/// Those of samples.txt. Throws std::runtime_error when it cannot be read.
const std::vector<Sample>& samples();
/// REQUIRES: there is one.
const Sample& sample(std::string_view name, bool request);

/// Motan's name for a serializer's number, as Tenon calls it.
std::string_view serializer_name(unsigned number);

/// "i32 -3", "list [string a, null]".
std::string describe(const Value& value);

}  // namespace tenon::motan2::test
