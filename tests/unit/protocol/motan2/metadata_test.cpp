#include "metadata.hpp"

#include <gtest/gtest.h>

#include "pair.hpp"

namespace tenon::motan2::test {
namespace {

std::vector<std::pair<std::string, std::string>> walk(std::string_view bytes) {
  std::vector<std::pair<std::string, std::string>> all;
  MetadataReader reader(bytes);
  std::string_view key;
  std::string_view value;
  while (reader.next(key, value)) all.emplace_back(key, value);
  EXPECT_FALSE(reader.next(key, value)) << "the end stays the end";
  return all;
}

TEST(Metadata, Pairs) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(walk(""), Pairs{});
  EXPECT_EQ(walk("a"), Pairs{});
  EXPECT_EQ(walk("a\n"), (Pairs{{"a", ""}}));
  EXPECT_EQ(walk("a\nb"), (Pairs{{"a", "b"}}));
  EXPECT_EQ(walk("a\nb\n"), (Pairs{{"a", "b"}}));
  EXPECT_EQ(walk("a\nb\nc"), (Pairs{{"a", "b"}}));
  EXPECT_EQ(walk("a\n\nb\n\n"), (Pairs{{"a", ""}, {"b", ""}}));
  EXPECT_EQ(walk("\n"), (Pairs{{"", ""}}));
  EXPECT_EQ(walk("\n\n\n"), (Pairs{{"", ""}, {"", ""}}));
}

TEST(Metadata, WhatIsPutIsRead) {
  std::string bytes;
  put(bytes, "a", "1");
  put(bytes, "empty", "");
  put_last(bytes, "z", "9");
  EXPECT_EQ(bytes, "a\n1\nempty\n\nz\n9");
}

TEST(Metadata, Timeouts) {
  struct Row {
    const char* text;
    std::uint64_t ms;
  };
  for (const Row& row : {Row{"1", 1}, Row{"5000", 5000}, Row{"0", 0}, Row{"", 0}, Row{"-1", 0}, Row{"+5", 0},
                         Row{" 5", 0}, Row{"5 ", 0}, Row{"5ms", 0}, Row{"5.5", 0}, Row{"0x10", 0}, Row{"007", 7},
                         Row{"1099511627776", 1ull << 40}, Row{"1099511627777", 1ull << 40},
                         Row{"18446744073709551615", 1ull << 40}, Row{"99999999999999999999999", 1ull << 40}}) {
    RequestMetadata request;
    ASSERT_TRUE(read_request(std::string("M_tmo\n") + row.text + "\nk\nv", 10, request).ok());
    EXPECT_EQ(request.timeout_ms, row.ms) << '"' << row.text << '"';
    ResponseMetadata response;
    ASSERT_TRUE(read_response(std::string("M_pt\n") + row.text + "\nk\nv", 10, response).ok());
    EXPECT_EQ(response.process_ms, row.ms) << '"' << row.text << '"';
    // As time it is never negative and fits.
    Peer server(Side::server);
    Wire wire = wire_request(1);
    wire.metadata += std::string("\nM_tmo\n") + row.text;
    ASSERT_FALSE(server.feed(wire.bytes()));
    EXPECT_EQ(server.take().at(0).remaining, std::chrono::milliseconds(static_cast<std::int64_t>(row.ms)));
  }
}

TEST(Metadata, GroupAndVersionOfEitherStyle) {
  const auto read = [](std::string_view bytes) {
    RequestMetadata request;
    EXPECT_TRUE(read_request(bytes, 10, request).ok());
    return std::string(request.group) + "|" + std::string(request.version);
  };
  EXPECT_EQ(read("M_g\ng\nM_v\n1"), "g|1");
  EXPECT_EQ(read("group\ng\nversion\n1"), "g|1");
  EXPECT_EQ(read("group\nj\nM_g\ng\nversion\n2\nM_v\n1"), "g|1");
  EXPECT_EQ(read("M_g\n\ngroup\nj\nM_v\n\nversion\n2"), "j|2");
  EXPECT_EQ(read("k\nv"), "|");
}

TEST(Metadata, FrameworkCalls) {
  const auto framework = [](std::string_view bytes) {
    RequestMetadata request;
    EXPECT_TRUE(read_request(bytes, 10, request).ok());
    return request.framework;
  };
  EXPECT_TRUE(framework("M_fws\ny"));
  EXPECT_FALSE(framework("M_fws\nn"));
  EXPECT_FALSE(framework("M_fws\n"));
  EXPECT_FALSE(framework("k\ny"));
}

// Whoever forwards a message sends on what it came with.
TEST(Metadata, EveryAttachmentThatIsReadMayBeSent) {
  std::string bytes;
  for (const char* key : {"M_p", "M_m", "M_g", "M_v", "M_pp", "M_tmo", "M_pt", "M_e", "tenon.error", "M_s", "M_mdu",
                          "M_md", "M_fws", "group", "version", "k", "", " ", "errtype"})
    put(bytes, key, "value");
  RequestMetadata request;
  ASSERT_TRUE(read_request(bytes, 100, request).ok());
  ResponseMetadata response;
  ASSERT_TRUE(read_response(bytes, 100, response).ok());
  for (const Headers* headers : {&request.attachments, &response.attachments}) {
    EXPECT_EQ(headers->size(), 9u);
    for (const auto& [key, value] : headers->entries()) EXPECT_TRUE(check_attachment(key, value).ok()) << key;
  }
}

TEST(Metadata, HeadersThatCannotBeSentFailThatCallAlone) {
  struct Row {
    std::string key, value;
    const char* about;
  };
  const Row rows[] = {{"", "v", "empty name"},
                      {"two\nlines", "v", "newline in its name"},
                      {"k", "two\nlines", "newline in its value"},
                      {"k", "\n", "newline in its value"},
                      {"M_p", "v", "\"M_p\" is written by the protocol"},
                      {"M_m", "v", "protocol itself"},
                      {"M_g", "v", "protocol itself"},
                      {"M_v", "v", "protocol itself"},
                      {"M_pp", "v", "protocol itself"},
                      {"M_tmo", "v", "protocol itself"},
                      {"M_pt", "v", "protocol itself"},
                      {"M_e", "v", "protocol itself"},
                      {"tenon.error", "v", "protocol itself"},
                      {std::string(1000, 'n') + "\n", "v", "nnn\" has a newline"}};
  Pair pair;
  Frame good = request(pair.hello, 0);
  ASSERT_TRUE(pair.client.session.send(good).ok());
  ASSERT_FALSE(pair.to_server());
  for (const Row& row : rows) {
    for (const bool client : {true, false}) {
      Frame frame = client ? request(pair.hello, 1) : response(0);
      frame.headers = {{"fine", "v"}, {row.key, row.value}};
      Peer& peer = client ? pair.client : pair.server;
      const Result<void> done = peer.session.send(frame);
      ASSERT_FALSE(done.ok()) << row.about;
      EXPECT_EQ(done.error().code(), Errc::invalid_argument);
      EXPECT_EQ(done.error().delivery(), Delivery::not_run);
      EXPECT_NE(done.error().text().find(row.about), std::string::npos) << done.error().text();
      EXPECT_LT(done.error().text().size(), 300u);
      EXPECT_EQ(peer.session.unwritten(), 0u);
    }
  }
  for (const char* fine : {"M_s", "M_mdu", "M_md", "M_fws", "group", "version", "m_p", "M_P"})
    EXPECT_TRUE(check_attachment(fine, "v").ok()) << fine;
  Frame reply = response(0);
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().size(), 1u);
}

}  // namespace
}  // namespace tenon::motan2::test
