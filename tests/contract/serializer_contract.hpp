#pragma once
// What every Serializer must do. Used with
//   INSTANTIATE_TEST_SUITE_P(Json, SerializerContract, testing::Values(SerializerCase{"json", make}), …);
// For one source file of each test program.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tenon/describe.hpp"
#include "tenon/serializer.hpp"

namespace tenon::test {

struct SerializerPart {
  std::string word;
  std::int64_t number = 0;
  bool operator==(const SerializerPart&) const = default;
};
BOOST_DESCRIBE_STRUCT(SerializerPart, (), (word, number))

struct SerializerSample {
  std::string text;
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  double fraction = 0;
  bool truth = false;
  std::vector<std::string> words;
  std::map<std::string, std::int64_t> numbers;
  SerializerPart part;
  std::vector<SerializerPart> parts;
  bool operator==(const SerializerSample&) const = default;
};
BOOST_DESCRIBE_STRUCT(SerializerSample, (), (text, wide, narrow, fraction, truth, words, numbers, part, parts))

/// What an older receiver knows of SerializerSample.
struct SerializerOlder {
  std::string text;
  std::int64_t wide = 0;
  bool operator==(const SerializerOlder&) const = default;
};
BOOST_DESCRIBE_STRUCT(SerializerOlder, (), (text, wide))

struct SerializerCase {
  std::string name;
  std::function<std::unique_ptr<Serializer>()> make;
};

class SerializerContract : public testing::TestWithParam<SerializerCase> {
 protected:
  void SetUp() override { serializer_ = GetParam().make(); }
  template <class T>
  Result<void> decode(std::string_view bytes, T& value) const {
    return serializer_->decode(bytes, message_type<T>(), &value);
  }
  template <class T>
  std::string encode(const T& value) const {
    OutBuffer out;
    Result<void> done = serializer_->encode(message_type<T>(), &value, out);
    EXPECT_TRUE(done.ok()) << done.error().text();
    return std::string(out.view());
  }
  static SerializerSample sample(std::size_t seed) {
    SerializerSample made;
    made.text = "Ada \"Lovelace\" \\ \n\t\x01 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 " + std::to_string(seed);
    made.wide = INT64_MIN + static_cast<std::int64_t>(seed);
    made.narrow = -1 - static_cast<std::int32_t>(seed);
    made.fraction = 0.1 * static_cast<double>(seed + 1);
    made.truth = seed % 2 == 0;
    made.words = {"", "one", std::string(300, 'w')};
    made.numbers = {{"a", 1}, {"b", INT64_MAX}, {"", 0}};
    made.part = {"part", 7};
    made.parts = {{"x", 1}, {"", 0}, {"z", -3}};
    return made;
  }
  std::unique_ptr<Serializer> serializer_;
};

TEST_P(SerializerContract, HasANameForTheWire) {
  EXPECT_FALSE(serializer_->content_type().empty());
  EXPECT_EQ(serializer_->content_type(), GetParam().make()->content_type());
}

TEST_P(SerializerContract, WhatGoesInComesOut) {
  for (std::size_t seed = 0; seed < 20; ++seed) {
    SerializerSample back;
    Result<void> done = decode(encode(sample(seed)), back);
    ASSERT_TRUE(done.ok()) << done.error().text();
    EXPECT_EQ(back, sample(seed));
  }
  SerializerSample back;
  Result<void> done = decode(encode(SerializerSample{}), back);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(back, SerializerSample{});
}

TEST_P(SerializerContract, AppendsAndIsRepeatable) {
  const SerializerSample value = sample(1);
  OutBuffer out;
  out.append("before");
  ASSERT_TRUE(serializer_->encode(message_type<SerializerSample>(), &value, out).ok());
  ASSERT_TRUE(out.view().starts_with("before"));
  EXPECT_EQ(out.view().substr(6), encode(value));
}

TEST_P(SerializerContract, TheSizeHintIsNoLie) {
  const SerializerSample value = sample(3);
  const std::size_t hint = serializer_->size_hint(message_type<SerializerSample>(), &value);
  if (hint != 0) {
    EXPECT_LE(hint, encode(value).size() * 4 + 64);
  }
}

TEST_P(SerializerContract, FieldsThatAreNotKnownAreSkipped) {
  SerializerOlder back;
  Result<void> done = decode(encode(sample(5)), back);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(back.text, sample(5).text);
  EXPECT_EQ(back.wide, sample(5).wide);
  SerializerSample newer;
  done = decode(encode(SerializerOlder{"t", 9}), newer);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(newer.text, "t");
  EXPECT_EQ(newer.words, std::vector<std::string>());
}

// Every prefix is decoded or refused; what is decoded from a prefix is not the whole value.
TEST_P(SerializerContract, TruncatedBytesAreNoWholeValue) {
  const std::string bytes = encode(sample(2));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    SerializerSample back;
    Result<void> done = decode(std::string_view(bytes).substr(0, size), back);
    if (done.ok()) {
      EXPECT_NE(back, sample(2)) << size;
    } else {
      EXPECT_EQ(done.error().code(), Errc::malformed) << size << ": " << done.error().text();
    }
  }
}

TEST_P(SerializerContract, DamagedBytesAreRefusedOrReadButHarmNothing) {
  const std::string bytes = encode(sample(4));
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = bytes;
    for (std::uint64_t hits = 1 + random() % 4; hits > 0; --hits)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    SerializerSample back;
    Result<void> done = decode(damaged, back);
    if (done.ok()) continue;
    EXPECT_TRUE(done.error().code() == Errc::malformed || done.error().code() == Errc::too_large)
        << done.error().text();
    EXPECT_FALSE(done.error().text().empty());
  }
}

TEST_P(SerializerContract, ServesManyThreadsAtOnce) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 200; ++i) {
        const SerializerSample value = sample(t * 1000 + i);
        OutBuffer out;
        SerializerSample back;
        if (!serializer_->encode(message_type<SerializerSample>(), &value, out).ok() ||
            !decode(out.view(), back).ok() || back != value)
          ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace tenon::test
