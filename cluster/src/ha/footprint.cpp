#include "ha/footprint.hpp"

namespace tenon::cluster {

namespace {

/// Adds up what is written to it.
class Adding final : public Writer {
 public:
  std::size_t bytes() const noexcept { return bytes_; }

  void null() override {}
  void boolean(bool) override { add(1); }
  void integer(std::int64_t, Kind) override { add(8); }
  void unsigned_integer(std::uint64_t, Kind) override { add(8); }
  void floating(double, Kind) override { add(8); }
  void string(std::string_view value) override { add(sizeof(std::string) + value.size()); }
  void bytes(std::string_view value) override { add(sizeof(std::string) + value.size()); }
  void enumeration(std::int32_t, const EnumType&) override { add(4); }
  void duration(std::chrono::nanoseconds) override { add(8); }
  void begin_list(std::size_t, const Type*) override { add(24); }
  void end_list() override {}
  void begin_map(std::size_t size, const Type*, const Type*) override { add(48 + 32 * size); }
  void end_map() override {}
  void begin_message(const MessageType&) override { add(16); }
  void field(const Field&) override {}
  void end_message() override {}

 private:
  void add(std::size_t more) noexcept { bytes_ += more; }
  std::size_t bytes_ = 0;
};

}  // namespace

std::size_t footprint(const Payload& payload) {
  if (payload.is_encoded()) return payload.bytes().size();
  if (!payload.has_value()) return 0;
  Adding adding;
  payload.type()->write(payload.value(), adding);
  return adding.bytes();
}

}  // namespace tenon::cluster
