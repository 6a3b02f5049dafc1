#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenon/type.hpp"

namespace tenon::cluster {

/// Sees a message pass and keeps the key in it: the value at a path of names of fields (or of text keys of a map).
class KeyFinder final : public Writer {
 public:
  /// `path` outlives it. REQUIRES: not empty.
  explicit KeyFinder(std::span<const std::string> path) noexcept : path_(path) {}

  std::optional<std::uint64_t> key() const noexcept { return key_; }

  /// Why no message of this type has a key there; empty: some may have.
  static std::string why_never(const MessageType& type, std::span<const std::string> path);

  void null() override { ends(); }
  void boolean(bool value) override { found(value ? 1 : 0); }
  void integer(std::int64_t value, Kind) override { found(static_cast<std::uint64_t>(value)); }
  void unsigned_integer(std::uint64_t value, Kind) override { found(value); }
  void floating(double, Kind) override { ends(); }
  void string(std::string_view value) override;
  void bytes(std::string_view value) override;
  void enumeration(std::int32_t value, const EnumType&) override {
    found(static_cast<std::uint64_t>(std::int64_t{value}));
  }
  void duration(std::chrono::nanoseconds value) override { found(static_cast<std::uint64_t>(value.count())); }
  void begin_list(std::size_t, const Type*) override { enter(Container::list); }
  void end_list() override { leave(); }
  void begin_map(std::size_t, const Type*, const Type*) override { enter(Container::map); }
  void end_map() override { leave(); }
  void begin_message(const MessageType& type) override;
  void field(const Field& field) override;
  void end_message() override { leave(); }

 private:
  enum class Container : std::uint8_t { message, map, list };
  bool at_map_key() const noexcept { return aside_ == 0 && map_ && key_next_; }
  void found(std::uint64_t value);
  void ends();
  void enter(Container container);
  void leave();
  void stop();

  const std::span<const std::string> path_;
  std::optional<std::uint64_t> key_;
  std::size_t level_ = 0;  // containers entered that the path goes through
  std::size_t aside_ = 0;  // containers entered that it does not go through
  bool wanted_ = true;     // the next value is on the path
  bool over_ = false;      // there is nothing more to be found
  bool map_ = false;       // the innermost container of the path is a map,
  bool key_next_ = false;  // a key of which is next
};

}  // namespace tenon::cluster
