#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tenon/result.hpp"

namespace tenon::motan2 {

/// Serializers have numbers (0 … 31) on this wire, names in Tenon. Tenon's "protobuf" is Motan's grpc-pb (1): the bare
/// message; Motan's own "protobuf" (5) wraps every value and is called "motan-protobuf" here.
/// Threads: immutable after create().
class SerializerNumbers {
 public:
  /// Motan's table, then `more` (name: number), which may add names and move numbers.
  /// Fails with: config (a number above 31, two names with one number).
  static Result<SerializerNumbers> create(const std::map<std::string, std::uint32_t>& more);

  /// -1: it has no number.
  int number(std::string_view name) const noexcept;
  /// "serializer 3" when nobody has that number: a name that no plugin has, for the message that says so.
  std::string_view name(std::uint8_t number) const noexcept { return names_[number & 31]; }
  /// "hessian2 (0), protobuf (1), …".
  std::string text() const;

 private:
  std::string names_[32];
  std::uint32_t known_ = 0;  // bits
};

}  // namespace tenon::motan2
