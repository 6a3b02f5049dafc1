// Serializer msgpack and a peer that means harm: refused or read, never a crash, a hang, or memory for what was only
// announced.
#include <sys/resource.h>
#include <time.h>

#include <random>
#include <vector>

#include "interop.pb.h"
#include "msgpack_samples.hpp"
#include "tenon/protobuf.hpp"

namespace samples::packed {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TENON_UNDER_TSAN)
constexpr auto allowed_time = std::chrono::milliseconds(500);
constexpr long allowed_kib = 256 * 1024;
#else
constexpr auto allowed_time = std::chrono::milliseconds(50);
constexpr long allowed_kib = 10 * 1024;
#endif

// The thread's own: other processes on the machine do not count.
std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Decodes `bytes`, which must not make the process 10 MiB bigger; a refusal must come within 50 ms. The bytes have a
// place of exactly their size, so that a sanitizer sees the end.
template <class T>
tenon::Result<T> watched(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const auto start = cpu_time();
  tenon::Result<T> back = decode<T>(msgpack, std::string_view(exact.data(), exact.size()));
  const auto taken = cpu_time() - start;
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, allowed_kib);
  if (!back.ok()) {
    EXPECT_LT(taken, allowed_time);
  }
  return back;
}

using Call = tenon::Arguments<std::string, Everything, std::vector<std::uint8_t>, std::map<std::string, Tree>>;

template <class T>
void refused_as(const std::string& bytes) {
  const auto back = watched<T>(bytes);
  ASSERT_FALSE(back.ok()) << hex(bytes.substr(0, 64));
  EXPECT_EQ(back.error().code(), tenon::Errc::malformed) << back.error().text();
  EXPECT_LT(back.error().text().size(), 2000u);
}
// Refused whatever is wanted.
void refused_by_all(const std::string& bytes) {
  refused_as<tenon::Value>(bytes);
  refused_as<tenon::Void>(bytes);
  refused_as<Everything>(bytes);
  refused_as<interop::Everything>(bytes);
  refused_as<tenon::Bare<std::string>>(bytes);
  refused_as<tenon::Bare<tenon::Bytes>>(bytes);
  refused_as<tenon::Bare<std::vector<std::string>>>(bytes);
  refused_as<tenon::Bare<std::vector<std::uint8_t>>>(bytes);
  refused_as<tenon::Bare<std::vector<bool>>>(bytes);
  refused_as<tenon::Bare<std::vector<Inner>>>(bytes);
  refused_as<tenon::Bare<std::map<std::string, std::string>>>(bytes);
  refused_as<tenon::Bare<std::map<std::int64_t, Inner>>>(bytes);
  refused_as<Call>(bytes);
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

TEST(MsgpackHostile, SeventyTwoKilobytesThatClaimFourGigabytes) {
  // Nils, fixints, false, empty texts: all that may fill a list or a map of something.
  for (const char filling : {'\xc0', '\0', '\xc2', '\xa0'}) {
    const std::string filler(72 * 1024, filling);
    for (const char first : {'\xc6', '\xc9', '\xdb', '\xdd', '\xdf'}) {
      for (const std::uint32_t claim : {0xFFFFFFFFu, 0x80000000u, 0x7FFFFFFFu, 72u * 1024 + 1}) {
        const std::string lie = first + big_endian(claim) + filler;
        refused_by_all(lie);
        // One level further in, and as a member nobody knows.
        refused_by_all('\x91' + lie);
        refused_by_all("\x81\xa1z" + lie);
      }
    }
  }
}

TEST(MsgpackHostile, AllThatIsThereIsCheap) {
  // The densest values: nils, empty lists.
  for (const char filling : {'\xc0', '\x90', '\x80', '\xa0'}) {
    const std::string filler(72 * 1024, filling);
    EXPECT_TRUE(watched<tenon::Value>('\xdd' + big_endian(72 * 1024) + filler).ok());
  }
}

// `depth` lists, or maps with one key, inside each other.
std::string nested(bool maps, int depth) {
  std::string bytes;
  for (int i = 1; i < depth; ++i) bytes += maps ? "\x81\xa4kids" : "\x91";
  return bytes + (maps ? '\x80' : '\x90');
}

TEST(MsgpackHostile, Depth) {
  const std::string unknown = "\x81\xa1z";
  for (const bool maps : {false, true}) {
    EXPECT_TRUE(decode<tenon::Value>(msgpack, nested(maps, 64)).ok());
    for (const int depth : {65, 66, 200, 3000, 100000}) {
      refused_as<tenon::Value>(nested(maps, depth));
      refused_as<tenon::Void>(nested(maps, depth));
      refused_as<Tree>(nested(maps, depth));
      refused_as<interop::Tree>(nested(maps, depth));
      refused_as<Inner>(unknown + nested(maps, depth));
    }
    EXPECT_TRUE(decode<Inner>(msgpack, unknown + nested(maps, 63)).ok());
    refused_as<Inner>(unknown + nested(maps, 64));
  }
  Tree tree;
  for (int i = 0; i < 31; ++i) {
    Tree outer;
    outer.kids.push_back(std::move(tree));
    tree = std::move(outer);
  }
  EXPECT_EQ(decode<Tree>(msgpack, encode(msgpack, tree)).value(), tree);
}

TEST(MsgpackHostile, WhatEndsTooEarlyOrTooLate) {
  const char* const bad[] = {
      "",          "91",
      "92 c0",     "81",
      "81 a161",   "82 a161 c0",
      "cc",        "cd 00",
      "ce 000000", "cf 00000000000000",
      "d0",        "d1 00",
      "d2 0000",   "d3 00",
      "ca 000000", "cb 00000000000000",
      "a1",        "bf 7878",
      "d9",        "d9 01",
      "da 00",     "da 0001",
      "db 000000", "db 00000001",
      "c4",        "c4 01",
      "c5 00",     "c6 000000",
      "dc 00",     "dc 0001",
      "dd 000000", "dd 00000001",
      "de 00",     "de 0001",
      "df 000000", "c7",
      "c7 01 00",  "c8 00",
      "d4",        "d4 00",
      "d8 00 00",  "c0 c0",
      "90 00",     "80 80",
      "a0 a0",     "c1",
      "91 c1",     "81 a161 c1",
  };
  for (const char* bytes : bad) {
    refused_by_all(octets(bytes));
    refused_as<Inner>("\x81\xa1z" + octets(bytes));
  }
}

template <class T>
void cut_everywhere(const T& object) {
  const std::string bytes = encode(msgpack, object);
  ASSERT_NE(bytes.substr(0, 6), "error:") << bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) refused_as<T>(bytes.substr(0, size));
}

Call call() { return {{"name", everything(), {1, 2, 255}, {{"a", {{{}, {}}, 1}}, {"b", {}}}}}; }

TEST(MsgpackHostile, CutOffAtEveryByte) {
  cut_everywhere(everything());
  cut_everywhere(odd());
  cut_everywhere(any_value());
  cut_everywhere(call());
  interop::Everything generated;
  ASSERT_TRUE(generated.ParseFromString(encode(protobuf, everything())));
  cut_everywhere(generated);
}

// What is read can be written, and is then read as the same.
template <class T>
int survives(const std::string& bytes) {
  const auto one = watched<T>(bytes);
  if (!one.ok()) {
    EXPECT_FALSE(one.error().text().empty());
    return 0;
  }
  const std::string first = encode(msgpack, *one);
  EXPECT_NE(first.substr(0, 6), "error:") << first << "\nfrom " << hex(bytes);
  const auto two = decode<T>(msgpack, first);
  EXPECT_TRUE(two.ok()) << two.error().text() << "\nfrom " << hex(bytes);
  if (two.ok()) {
    EXPECT_EQ(hex(encode(msgpack, *two)), hex(first)) << "from " << hex(bytes);
  }
  return 1;
}

TEST(MsgpackHostile, MutationsAreRefusedOrRead) {
  const std::vector<std::string> seeds = {encode(msgpack, everything()), encode(msgpack, odd()),
                                          encode(msgpack, any_value()), encode(msgpack, call())};
  std::mt19937 random(20240607);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = seeds[static_cast<std::size_t>(round) % seeds.size()];
    for (std::size_t changes = 1 + below(3); changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at = below(bytes.size());
      switch (below(5)) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes[at] = static_cast<char>(0xc0 + below(0x20)); break;  // a format byte
        case 2: bytes.erase(at, 1 + below(8)); break;
        case 3: bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(16))); break;
        default: bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8)); break;
      }
    }
    read += survives<tenon::Value>(bytes) + survives<Everything>(bytes) + survives<Odd>(bytes) + survives<Call>(bytes);
    // A map of a generated message is written in no particular order.
    const auto generated = decode<interop::Everything>(msgpack, bytes);
    if (generated.ok()) {
      EXPECT_NE(encode(msgpack, *generated).substr(0, 6), "error:");
    }
  }
  EXPECT_GT(read, 400);  // else the mutations are too wild to show anything
}

}  // namespace
}  // namespace samples::packed
