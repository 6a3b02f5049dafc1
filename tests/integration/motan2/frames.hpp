#pragma once
// Motan2 frames made by hand, and a peer that sends them over a real socket: independent of the plugin under test.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/raw_socket.hpp"

namespace tenon::test {

using Pairs = std::vector<std::pair<std::string, std::string>>;

inline std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

/// A frame from its parts, whatever they are.
inline std::string raw_frame(unsigned type, unsigned state, unsigned serializer, std::uint64_t id,
                             const std::string& metadata, const std::string& body) {
  return std::string("\xf1\xf1") + static_cast<char>(type) + static_cast<char>(state) +
         static_cast<char>(serializer << 3) + big_endian(id, 8) + big_endian(metadata.size(), 4) + metadata +
         big_endian(body.size(), 4) + body;
}

inline std::string metadata_text(const Pairs& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) text += (text.empty() ? "" : "\n") + key + "\n" + value;
  return text;
}

/// A frame as it was received.
struct MotanFrame {
  unsigned type = 0, state = 0, serializer = 0;
  std::uint64_t id = 0;
  std::map<std::string, std::string> metadata;
  std::string body;
  bool error() const { return (state & 7) == 1; }
  /// The M_e object, as text.
  std::string exception() const { return metadata.contains("M_e") ? metadata.at("M_e") : std::string(); }
  /// M_e's errcode; 0: none.
  int errcode() const {
    const std::string text = exception();
    const std::size_t at = text.find("\"errcode\":");
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 10);
  }
};

class MotanPeer {
 public:
  explicit MotanPeer(const std::string& address) : socket_(address) { EXPECT_TRUE(socket_.connected()); }
  bool send(const std::string& bytes) { return socket_.send(bytes); }
  /// The next frame; nothing when the peer closed or 5 s have passed.
  std::optional<MotanFrame> receive() {
    if (!fill(17)) return std::nullopt;
    const std::size_t metadata = number(13, 4);
    if (!fill(17 + metadata + 4)) return std::nullopt;
    const std::size_t body = number(17 + metadata, 4);
    if (!fill(21 + metadata + body)) return std::nullopt;
    MotanFrame frame;
    frame.type = static_cast<unsigned char>(bytes_[2]);
    frame.state = static_cast<unsigned char>(bytes_[3]);
    frame.serializer = static_cast<unsigned char>(bytes_[4]);
    frame.id = number(5, 8);
    std::string_view text = std::string_view(bytes_).substr(17, metadata);
    while (!text.empty()) {
      const std::size_t key = text.find('\n');
      if (key == std::string_view::npos) {
        ADD_FAILURE() << "metadata with an unpaired key";
        break;
      }
      const std::size_t value = std::min(text.find('\n', key + 1), text.size());
      frame.metadata[std::string(text.substr(0, key))] = text.substr(key + 1, value - key - 1);
      text.remove_prefix(std::min(value + 1, text.size()));
    }
    frame.body = bytes_.substr(21 + metadata, body);
    bytes_.erase(0, 21 + metadata + body);
    return frame;
  }
  bool closed() { return bytes_.empty() && socket_.closed_within(5000); }

 private:
  std::uint64_t number(std::size_t at, int bytes) const {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }
  bool fill(std::size_t size) { return socket_.receive(bytes_, size, 5000); }

  RawSocket socket_;
  std::string bytes_;
};

}  // namespace tenon::test
