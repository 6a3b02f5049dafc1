// Serializer simple and a peer that means harm: refused or read, never a crash, a hang, or memory for what was only
// announced.
#include <sys/resource.h>
#include <time.h>

#include <random>
#include <vector>

#include "interop.pb.h"
#include "simple_samples.hpp"
#include "tenon/protobuf.hpp"

namespace samples {
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
  tenon::Result<T> back = decode<T>(simple, std::string_view(exact.data(), exact.size()));
  const auto taken = cpu_time() - start;
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, allowed_kib);
  if (!back.ok()) {
    EXPECT_LT(taken, allowed_time);
  }
  return back;
}

std::string u32(std::size_t size) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  return bytes;
}
std::string framed(int tag, const std::string& content) {
  return static_cast<char>(tag) + u32(content.size()) + content;
}
std::string text(const std::string& content) { return framed(1, content); }

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
  refused_as<tenon::Bare<std::vector<Inner>>>(bytes);
  refused_as<tenon::Bare<std::map<std::string, std::string>>>(bytes);
  refused_as<tenon::Bare<std::map<std::int64_t, Inner>>>(bytes);
  refused_as<Call>(bytes);
}

TEST(SimpleHostile, SeventyTwoKilobytesThatClaimFourGigabytes) {
  const std::string filler(72 * 1024, '\0');
  for (const int tag : {1, 2, 3, 4, 20, 21}) {
    for (const std::uint32_t claim : {0xFFFFFFFFu, 0x80000000u, 0x7FFFFFFFu, 72u * 1024 + 1}) {
      const std::string lie = static_cast<char>(tag) + u32(claim) + filler;
      refused_by_all(lie);
      // One level further in, where the outer length is true.
      refused_by_all(framed(21, lie));
      refused_by_all(framed(20, text("unknown") + lie));
    }
  }
  // A text without tag that is longer than what holds it.
  for (const int tag : {2, 4}) {
    refused_by_all(framed(tag, u32(0xFFFFFFFF) + filler));
    refused_by_all(framed(tag, u32(filler.size() + 1) + filler));
    refused_by_all(framed(tag, filler.substr(0, 16 * 1024) + '\0'));
  }
}

TEST(SimpleHostile, AllThatIsThereIsCheap) {
  // The densest values: nulls, empty lists.
  EXPECT_TRUE(watched<tenon::Value>(framed(21, std::string(72 * 1024, '\0'))).ok());
  std::string empties;
  for (int i = 0; i < 14000; ++i) empties += framed(21, "");
  EXPECT_TRUE(watched<tenon::Value>(framed(21, empties)).ok());
}

// `depth` lists or maps inside each other.
std::string nested(int tag, int depth) {
  const std::string head = tag == 20 ? text("kids") : "";
  std::string bytes = framed(tag, "");
  for (int i = 1; i < depth; ++i) bytes = framed(tag, head + bytes);
  return bytes;
}

TEST(SimpleHostile, Depth) {
  for (const int tag : {20, 21}) {
    EXPECT_TRUE(decode<tenon::Value>(simple, nested(tag, 64)).ok());
    EXPECT_TRUE(decode<tenon::Void>(simple, nested(tag, 64)).ok());
    for (const int depth : {65, 66, 200, 3000}) {
      refused_as<tenon::Value>(nested(tag, depth));
      refused_as<tenon::Void>(nested(tag, depth));
      refused_as<Tree>(nested(tag, depth));
      refused_as<interop::Tree>(nested(tag, depth));
      refused_as<Inner>(framed(20, text("unknown") + nested(tag, depth)));
    }
    EXPECT_TRUE(decode<Inner>(simple, framed(20, text("unknown") + nested(tag, 63))).ok());
    refused_as<Inner>(framed(20, text("unknown") + nested(tag, 64)));
  }
  // A hundred thousand, with lengths that no longer add up.
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += std::string("\x15\0\x01\0\0", 5);
  refused_by_all(deep);
}

TEST(SimpleHostile, ValuesMustEndWhereTheirListDoes) {
  const char* const bad[] = {
      "15 00000001 08 02",                 // the list ends behind a tag
      "15 00000003 01 00000001 78",        // inside a length
      "15 00000005 01 00000001 78",        // before the text
      "15 00000006 15 00000001 00 00",     // one byte after the inner list, inside; one after the outer
      "15 00000005 15 00000001 00",        // the inner list is longer than the outer
      "04 00000003 000000",                // inside a length
      "04 00000005 00000001 78 00",        // bytes after it
      "04 00000006 00000001 78 00",        // half a length
      "02 00000005 00000001 78",           // a key without a value
      "14 00000002 08 02",                 // a key without a value
      "14 00000006 01 00000001 78",        // a name without a value
      "14 00000008 01 00000001 78 08 80",  // a value cut by the end
      "14 00000007 01 00000001 78 16",     // an unknown tag
      "15 00000001 0c",
      "0c",
      "13",
      "16",
      "80",
      "ff",  // unknown tags
      "00 00",
      "08 02 00",
      "14 00000000 00",  // something behind the value
      "05",
      "06",
      "07 00",
      "0a 000000",
      "0b 00000000000000",
      "01",
      "01 000000",
      "01 00000001",
  };
  for (const char* bytes : bad) {
    refused_as<tenon::Value>(octets(bytes));
    refused_as<tenon::Void>(octets(bytes));
    refused_as<Inner>(octets(bytes));
    refused_as<tenon::Bare<std::vector<std::string>>>(octets(bytes));
    refused_as<tenon::Bare<std::map<std::string, std::string>>>(octets(bytes));
    refused_as<Inner>(framed(20, text("unknown") + octets(bytes)));
  }
  refused_as<tenon::Value>("");
  refused_as<Inner>("");
  refused_as<tenon::Bare<std::int64_t>>("");
  refused_as<tenon::Bare<std::optional<std::int64_t>>>("");
  refused_as<tenon::Arguments<tenon::Value>>("");
  refused_as<tenon::Bare<tenon::Arguments<int>>>(octets("15 00000000"));
  refused_as<tenon::Bare<tenon::Arguments<int>>>(octets("15 00000004 0802 0802"));
}

TEST(SimpleHostile, NullsAndTextsThatMayNotBe) {
  refused_as<tenon::Bare<std::vector<std::int32_t>>>(octets("15 00000001 00"));
  refused_as<tenon::Bare<std::vector<std::string>>>(octets("15 00000001 00"));
  refused_as<tenon::Bare<std::vector<Inner>>>(octets("15 00000001 00"));
  refused_as<tenon::Bare<std::map<std::string, std::string>>>(octets("14 00000007 01 00000001 78 00"));
  refused_as<tenon::Bare<std::map<std::string, std::string>>>(octets("14 00000002 00 00"));
  refused_as<tenon::Value>(octets("14 00000002 00 00"));
  refused_as<Inner>(octets("14 00000002 00 00"));
  refused_as<tenon::Value>(octets("01 00000001 ff"));
  refused_as<tenon::Value>(octets("04 00000005 00000001 ff"));
  refused_as<tenon::Value>(octets("02 0000000a 00000001 ff 00000001 78"));
  refused_as<tenon::Bare<std::string>>(octets("01 00000003 eda080"));
}

template <class T>
void cut_everywhere(const T& object) {
  const std::string bytes = encode(simple, object);
  ASSERT_NE(bytes.substr(0, 6), "error:") << bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) refused_as<T>(bytes.substr(0, size));
}

Call call() { return {{"name", simple_everything(), {1, 2, 255}, {{"a", {{{}, {}}, 1}}, {"b", {}}}}}; }

TEST(SimpleHostile, CutOffAtEveryByte) {
  cut_everywhere(simple_everything());
  cut_everywhere(simple_odd());
  cut_everywhere(simple_any());
  cut_everywhere(call());
  interop::Everything generated;
  ASSERT_TRUE(generated.ParseFromString(encode(protobuf, simple_everything())));
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
  const std::string first = encode(simple, *one);
  EXPECT_NE(first.substr(0, 6), "error:") << first << "\nfrom " << hex(bytes);
  const auto two = decode<T>(simple, first);
  EXPECT_TRUE(two.ok()) << two.error().text() << "\nfrom " << hex(bytes);
  if (two.ok()) {
    EXPECT_EQ(hex(encode(simple, *two)), hex(first)) << "from " << hex(bytes);
  }
  return 1;
}

TEST(SimpleHostile, MutationsAreRefusedOrRead) {
  const std::vector<std::string> seeds = {encode(simple, simple_everything()), encode(simple, simple_odd()),
                                          encode(simple, simple_any()), encode(simple, call())};
  std::mt19937 random(20240607);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = seeds[static_cast<std::size_t>(round) % seeds.size()];
    for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
      static constexpr char telling[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20, 21, 22, 127, -1, -128};
      const std::size_t at = below(bytes.size());
      switch (below(5)) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes[at] = telling[below(sizeof(telling))]; break;
        case 2: bytes.erase(at, 1 + below(8)); break;
        case 3: bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(16))); break;
        default: bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8)); break;
      }
    }
    read += survives<tenon::Value>(bytes) + survives<Everything>(bytes) + survives<Odd>(bytes) + survives<Call>(bytes);
    // A map of a generated message is written in no particular order.
    const auto generated = decode<interop::Everything>(simple, bytes);
    if (generated.ok()) {
      EXPECT_NE(encode(simple, *generated).substr(0, 6), "error:");
    }
  }
  EXPECT_GT(read, 400);  // else the mutations are too wild to show anything
}

}  // namespace
}  // namespace samples
