// Bytes from a peer that means harm: refused or read, never a crash, a hang, or memory for what was only announced.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <functional>

#include "interop.pb.h"
#include "samples.hpp"
#include "tenon/protobuf.hpp"

namespace samples {
namespace {

// Runs `step`, which must be done in 50 ms (500 under a sanitizer) and must not make the process 16 MiB bigger.
void quick_and_small(const std::function<void()>& step) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TENON_UNDER_TSAN)
  constexpr auto allowed = std::chrono::milliseconds(500);
  constexpr long allowed_kib = 256 * 1024;
#else
  constexpr auto allowed = std::chrono::milliseconds(50);
  constexpr long allowed_kib = 16 * 1024;
#endif
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const auto start = std::chrono::steady_clock::now();
  step();
  EXPECT_LT(std::chrono::steady_clock::now() - start, allowed);
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, allowed_kib);
}

TEST(Hostile, LyingLengths) {
  quick_and_small([] {
    // every field of Everything announced with a length of 2^32-1 and of 2^63
    for (int number = 1; number <= 21; ++number) {
      for (const char* length : {"ffffffff0f", "ffffffffffffffff7f", "ffffffffffffffffff01"}) {
        const int tag = number << 3 | 2;
        std::string bytes;
        if (tag >= 128) {
          bytes = {static_cast<char>(tag | 128), static_cast<char>(tag >> 7)};
        } else {
          bytes = {static_cast<char>(tag)};
        }
        bytes += unhex(length);
        EXPECT_FALSE(decode<Everything>(protobuf, bytes).ok()) << number << length;
        EXPECT_FALSE(decode<Odd>(protobuf, bytes).ok()) << number << length;
        EXPECT_FALSE(decode<interop::Everything>(protobuf, bytes).ok()) << number << length;
      }
    }
  });
}

TEST(Hostile, ManyElementsInATinyMessageCostNothing) {
  quick_and_small([] {
    // a list that announces 2^32 elements' worth of bytes inside a dynamic value, a map, a packed list
    for (const char* text : {"0affffffff0f", "0a089201ffffffff0f0a", "0a079a01ffffffff0f", "0a0c0affffffff0f0801"}) {
      EXPECT_FALSE(decode<tenon::Value>(protobuf, unhex(text)).ok()) << text;
      EXPECT_FALSE(decode<tenon::Bare<std::vector<Inner>>>(protobuf, unhex(text)).ok()) << text;
      using Map = std::map<std::string, std::vector<std::string>>;
      EXPECT_FALSE(decode<tenon::Bare<Map>>(protobuf, unhex(text)).ok()) << text;
    }
  });
}

std::string nested(std::string_view tag, int depth) {
  std::string bytes;
  for (int i = 0; i < depth; ++i) {
    std::string length;
    std::size_t size = bytes.size();
    while (size >= 128) {
      length += static_cast<char>(size | 128);
      size >>= 7;
    }
    length += static_cast<char>(size);
    bytes = std::string(tag) + length + bytes;
    if (bytes.size() > 600000) break;
  }
  return bytes;
}

TEST(Hostile, DepthOfAHundredThousand) {
  const std::string trees = nested("\x0A", 20000);
  const std::string groups(100000, '\x0B');
  const std::string unknown_groups(100000, '\x7B');
  const std::string values = nested(unhex("0a"), 20000);
  for (const std::string& bytes : {trees, groups, unknown_groups, values}) {
    EXPECT_FALSE(decode<Tree>(protobuf, bytes).ok());
    EXPECT_FALSE(decode<interop::Tree>(protobuf, bytes).ok());
  }
  std::string dynamic;
  for (int i = 0; i < 3000; ++i) {  // Any{list{Any{list …
    const auto wrap = [](std::string tag, const std::string& body) {
      std::size_t size = body.size();
      while (size >= 128) {
        tag += static_cast<char>(size | 128);
        size >>= 7;
      }
      return tag + static_cast<char>(size) + body;
    };
    dynamic = wrap("\x0A", wrap("\x92\x01", dynamic));
  }
  EXPECT_FALSE(decode<tenon::Value>(protobuf, dynamic).ok());
  const std::string brackets(100000, '[');
  const std::string braces = [] {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += R"({"kids":[)";
    return text;
  }();
  for (const std::string& text : {brackets, braces}) {
    EXPECT_FALSE(decode<tenon::Value>(json, text).ok());
    EXPECT_FALSE(decode<Tree>(json, text).ok());
    EXPECT_FALSE(decode<interop::Tree>(json, text).ok());
  }
}

TEST(Hostile, NativeAndOwnNestingLimitsAgree) {
  const std::string good = nested("\x0A", 64);
  EXPECT_TRUE(decode<Tree>(protobuf, good).ok());
  EXPECT_TRUE(decode<interop::Tree>(protobuf, good).ok());
  const std::string bad = nested("\x0A", 66);
  EXPECT_FALSE(decode<Tree>(protobuf, bad).ok());
  EXPECT_FALSE(decode<interop::Tree>(protobuf, bad).ok());
}

// A prefix may happen to be a whole message; then it must read as one that can be written again.
template <class T>
void cut_everywhere(const tenon::Serializer& serializer, const T& object, bool prefixes_are_errors) {
  const std::string bytes = encode(serializer, object);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);  // exactly sized, so that a sanitizer sees the end
    const std::vector<char> exact(cut.begin(), cut.end());
    const auto back = decode<T>(serializer, std::string_view(exact.data(), exact.size()));
    if (prefixes_are_errors) {
      EXPECT_FALSE(back.ok()) << size;
    }
    if (!back.ok()) {
      EXPECT_FALSE(back.error().text().empty());
      EXPECT_EQ(back.error().code(), tenon::Errc::malformed) << back.error().text();
    }
  }
}

TEST(Hostile, CutOffAtEveryByte) {
  cut_everywhere(protobuf, everything(), false);
  cut_everywhere(protobuf, odd(), false);
  cut_everywhere(protobuf, any_value(), false);
  cut_everywhere(json, everything(), true);
  cut_everywhere(json, odd(), true);
}

TEST(Hostile, EveryByteChanged) {
  for (const std::string& good : {encode(protobuf, everything()), encode(protobuf, odd())}) {
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (const int change : {1, 4, 0x80, 0xFF}) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ change);
        const auto one = decode<Everything>(protobuf, bad);
        const auto two = decode<Odd>(protobuf, bad);
        if (one.ok()) {
          EXPECT_NE(encode(protobuf, *one).substr(0, 6), "error:");
        }
        if (two.ok()) {
          EXPECT_NE(encode(protobuf, *two).substr(0, 6), "error:");
        }
      }
    }
  }
}

}  // namespace
}  // namespace samples
