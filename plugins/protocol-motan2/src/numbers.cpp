#include "numbers.hpp"

#include <utility>

namespace tenon::motan2 {
namespace {

constexpr std::pair<std::string_view, std::uint8_t> motan_table[] = {
    {"hessian2", 0}, {"protobuf", 1}, {"fastjson", 2},     {"hprose", 4}, {"motan-protobuf", 5},
    {"simple", 6},   {"grpc-pb-json", 7}, {"breeze", 8},
};
constexpr std::uint32_t count = 32;

}  // namespace

Result<SerializerNumbers> SerializerNumbers::create(const std::map<std::string, std::uint32_t>& more) {
  SerializerNumbers table;
  for (const auto& [name, number] : motan_table) {
    if (more.contains(std::string(name))) continue;
    table.names_[number] = name;
    table.known_ |= 1u << number;
  }
  for (const auto& [name, number] : more) {
    if (number >= count)
      return Error(Errc::config, "serializers." + name + ": " + std::to_string(number) +
                                     " does not fit into the frame; numbers are 0 to 31");
    if (table.known_ & 1u << number)
      return Error(Errc::config, "serializers." + name + ": number " + std::to_string(number) + " is " +
                                     table.names_[number] + "'s");
    table.names_[number] = name;
    table.known_ |= 1u << number;
  }
  for (std::uint32_t number = 0; number < count; ++number)
    if (!(table.known_ & 1u << number)) table.names_[number] = "serializer " + std::to_string(number);
  return table;
}

int SerializerNumbers::number(std::string_view name) const noexcept {
  for (std::uint32_t number = 0; number < count; ++number)
    if ((known_ & 1u << number) && names_[number] == name) return static_cast<int>(number);
  return -1;
}

std::string SerializerNumbers::text() const {
  std::string all;
  for (std::uint32_t number = 0; number < count; ++number) {
    if (!(known_ & 1u << number)) continue;
    if (!all.empty()) all += ", ";
    all += names_[number] + " (" + std::to_string(number) + ")";
  }
  return all;
}

}  // namespace tenon::motan2
