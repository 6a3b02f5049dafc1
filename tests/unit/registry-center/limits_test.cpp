#include "limits.hpp"

#include <gtest/gtest.h>

#include "known_clients.hpp"

namespace tenon::center {
namespace {

void expect_refused(const Result<void>& result, std::string_view text) {
  ASSERT_FALSE(result.ok()) << text;
  EXPECT_EQ(result.error().code(), Errc::invalid_argument);
  EXPECT_NE(result.error().text().find(text), std::string::npos) << result.error().text();
}

TEST(CenterLimits, NamesOfServices) {
  EXPECT_TRUE(check_service({"demo.Greeter", "", ""}).ok());
  EXPECT_TRUE(check_service({"демо.Привет", "blue", "1.0"}).ok());
  EXPECT_TRUE(check_service({std::string(255, 'a'), std::string(255, 'b'), std::string(255, 'c')}).ok());
  expect_refused(check_service({"", "", ""}), "interface is empty");
  expect_refused(check_service({"a/b", "", ""}), "'/'");
  expect_refused(check_service({".", "", ""}), "must not be \".\"");
  expect_refused(check_service({"a", "..", ""}), "group must not be \"..\"");
  expect_refused(check_service({"a", "", std::string("1\0", 2)}), "control");
  expect_refused(check_service({"a\x7F", "", ""}), "control");
  expect_refused(check_service({"a\xC2\x85", "", ""}), "control");
  expect_refused(check_service({"a\xFF", "", ""}), "not UTF-8");
  expect_refused(check_service({std::string(256, 'a'), "", ""}), "256 bytes; at most 255");
  const auto huge = check_service({std::string(64 << 10, 'a'), "", ""});
  expect_refused(huge, "65536 bytes; at most 255");
  EXPECT_LT(huge.error().text().size(), 300u) << "nobody wants it repeated";
}

TEST(CenterLimits, Instances) {
  EXPECT_TRUE(check_instance(instance("one")).ok());
  const auto broken = [](void (*how)(Instance&)) {
    Instance changed = instance("one");
    how(changed);
    return check_instance(changed);
  };
  EXPECT_TRUE(broken([](Instance& i) { i.address = "/run/greeter.sock"; }).ok());
  EXPECT_TRUE(broken([](Instance& i) { i.metadata = {{"note", "two\nlines"}}; }).ok());
  expect_refused(broken([](Instance& i) { i.id = ""; }), "id is empty");
  expect_refused(broken([](Instance& i) { i.id = std::string(513, 'x'); }), "513 bytes; at most 512");
  expect_refused(broken([](Instance& i) { i.address = ""; }), "instance \"one\": its address is empty");
  expect_refused(broken([](Instance& i) { i.address = "a\nb"; }), "control");
  expect_refused(broken([](Instance& i) { i.transport = "../tcp"; }), "transport");
  expect_refused(broken([](Instance& i) { i.protocols.assign(17, "tenon"); }), "17 protocols; at most 16");
  expect_refused(broken([](Instance& i) { i.metadata = {{"", "x"}}; }), "a metadata key is empty");
  expect_refused(broken([](Instance& i) { i.metadata = {{"k", std::string("\0", 1)}}; }), "not a text");
  expect_refused(broken([](Instance& i) { i.metadata = {{"k", std::string(8 << 10, 'x')}}; }), "8192 bytes");
  expect_refused(broken([](Instance& i) {
                   for (int n = 0; n < 65; ++n) i.metadata[std::to_string(n)] = "x";
                 }),
                 "metadata entries; at most 64");
}

TEST(CenterLimits, Keys) {
  EXPECT_TRUE(check_key(key(1)).ok());
  expect_refused(check_key({"short", key(1).secret}), "id must be 32 hexadecimal");
  expect_refused(check_key({key(1).id, std::string(32, 'g')}), "secret must be 32 hexadecimal");
  const auto checked = check_key({key(1).id, "geheim"});
  EXPECT_EQ(checked.error().text().find("geheim"), std::string::npos) << "secrets are not repeated";
  expect_refused(check_opening(opening(1, "a\x1B[31m")), "control");
  expect_refused(check_opening(opening(1, std::string(256, 'a'))), "at most 255");
  expect_refused(check_opening(opening(1, "", std::string(5000, 'a'))), "the token has more");
}

TEST(CenterLimits, Documents) {
  EXPECT_TRUE(check_document({"command", "", std::string(1 << 20, 'x'), 0}).ok());
  expect_refused(check_document({"command", "blue", std::string((1 << 20) + 1, 'x'), 0}), "at most 1048576");
  EXPECT_TRUE(check_document({"command", "", std::string(1 << 20, '"'), 0}).ok());
  expect_refused(check_document({"command", "", std::string(1 << 20, '\x01'), 0}), "control characters");
  expect_refused(check_document({"command", "blue", "\xFF", 0}), "not UTF-8");
  expect_refused(check_document({"", "blue", "", 0}), "kind is empty");
  expect_refused(check_document({"a/b", "blue", "", 0}), "kind");
  expect_refused(check_document({"command", "..", "", 0}), "group");
}

TEST(CenterLimits, QuotesWhatFits) {
  EXPECT_EQ(quoted("blue"), "\"blue\"");
  EXPECT_EQ(quoted("\xFF"), "(not UTF-8)");
  EXPECT_EQ(quoted("a\x1B[31m"), "\"a?[31m\"");
  const std::string shown = quoted("12345678901234567890123456789012345678901234567890123456789€€€");
  EXPECT_TRUE(shown.ends_with("9…\"")) << "no character is cut: " << shown;
}

}  // namespace
}  // namespace tenon::center
