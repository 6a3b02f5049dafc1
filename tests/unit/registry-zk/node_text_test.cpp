#include "node_text.hpp"

#include <gtest/gtest.h>

#include "samples.hpp"

namespace tenon::zk {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}
const std::string header = bytes({0xAC, 0xED, 0x00, 0x05});

TEST(NodeTextTest, PlainDataIsItsText) {
  for (const std::string& text : {std::string(), std::string("motan2://h:1/x"), std::string("\xFF\x00", 2)}) {
    const auto read = read_node_text(text);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->text, text);
    EXPECT_EQ(read->encoding, TextEncoding::plain);
    EXPECT_EQ(write_node_text(text, TextEncoding::plain), text);
  }
}

TEST(NodeTextTest, ReadsAndWritesWhatJavaWrote) {
  ASSERT_EQ(sample::java_node.size(), 361u);
  const auto read = read_node_text(sample::java_node);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->text, sample::java_server);
  EXPECT_EQ(read->encoding, TextEncoding::java);
  EXPECT_EQ(write_node_text(sample::java_server, TextEncoding::java), sample::java_node);
}

// As java.io.ObjectOutputStream writes "é€\0😀".
TEST(NodeTextTest, JavaHasAnUtf8OfItsOwn) {
  const std::string text = std::string("\xC3\xA9\xE2\x82\xAC") + '\0' + "\xF0\x9F\x98\x80";
  const std::string data =
      header + bytes({0x74, 0x00, 0x0D, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xC0, 0x80, 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80});
  EXPECT_EQ(write_node_text(text, TextEncoding::java), data);
  const auto read = read_node_text(data);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->text, text);
}

TEST(NodeTextTest, HalvesAndBadBytesBecomeReplacementCharacters) {
  const auto lone = read_node_text(header + bytes({0x74, 0, 4, 0xED, 0xA0, 0xBD, 'x'}));
  ASSERT_TRUE(lone.ok());
  EXPECT_EQ(lone->text, "\xEF\xBF\xBDx");
  const auto written = read_node_text(write_node_text("a\xFFz\xC0\x80\xF4\x90\x80\x80", TextEncoding::java));
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->text.substr(0, 5), "a\xEF\xBF\xBDz");
}

TEST(NodeTextTest, LongTextsHaveALongLength) {
  for (const std::size_t size : {65535u, 65536u, 200000u}) {
    const std::string text(size, 'x');
    const std::string data = write_node_text(text, TextEncoding::java);
    EXPECT_EQ(data[4], size < 65536 ? '\x74' : '\x7C');
    EXPECT_EQ(data.size(), size + (size < 65536 ? 7 : 13));
    const auto read = read_node_text(data);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->text, text);
  }
}

TEST(NodeTextTest, JavasNullIsAnEmptyText) {
  const auto read = read_node_text(header + "\x70");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, (NodeText{"", TextEncoding::java}));
}

TEST(NodeTextTest, OtherObjectsAndCutOnesAreMalformed) {
  for (std::size_t size = 4; size < sample::java_node.size(); size += size < 10 ? 1 : 50) {
    const auto read = read_node_text(sample::java_node.substr(0, size));
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_EQ(read.error().code(), Errc::malformed);
  }
  for (const std::string& data :
       {header + "sr", header + bytes({0x74, 0, 1, 0xFF}), header + bytes({0x74, 0, 1, 0xC3}),
        header + bytes({0x74, 0, 4, 0xF0, 0x9F, 0x98, 0x80}), header + bytes({0x7C, 0x80, 0, 0, 0, 0, 0, 0, 1, 'x'}),
        header + bytes({0x7C, 0xFF, 0xFF, 0xFF, 0xFF})})
    EXPECT_FALSE(read_node_text(data).ok());
}

}  // namespace
}  // namespace tenon::zk
