#include "protocol.hpp"

#include <gtest/gtest.h>

#include "pair.hpp"
#include "support/recording_log.hpp"
#include "support/test_executor.hpp"

namespace tenon::motan2::test {
namespace {

Result<std::unique_ptr<Motan2Protocol>> create(Motan2Options options) {
  tenon::test::TestExecutor executor;
  tenon::test::RecordingLog log;
  return Motan2Protocol::create(std::move(options), Environment{executor, log, executor.clock()});
}

std::unique_ptr<Motan2Protocol> protocol(Motan2Options options = {}) {
  auto made = create(std::move(options));
  EXPECT_TRUE(made.ok()) << made.error().text();
  return std::move(*made);
}

TEST(Protocol, Sniffs) {
  const auto motan = protocol();
  using Match = Protocol::Match;
  EXPECT_EQ(motan->name(), "motan2");
  EXPECT_EQ(motan->sniff(""), Match::more);
  EXPECT_EQ(motan->sniff("\xf1"), Match::more);
  EXPECT_EQ(motan->sniff("\xf1\xf1"), Match::yes);
  EXPECT_EQ(motan->sniff(wire_request(1).bytes()), Match::yes);
  EXPECT_EQ(motan->sniff("\xf1\xf0"), Match::no);
  EXPECT_EQ(motan->sniff("tenon"), Match::no);
  EXPECT_EQ(motan->sniff("G"), Match::no);
}

TEST(Protocol, OpensBothSides) {
  const auto motan = protocol();
  Methods methods;
  const auto client = motan->open(Side::client, {}, {});
  const auto server = motan->open(Side::server, {}, {});
  Frame frame = request(methods.hello, 1, "body");
  ASSERT_TRUE(client->send(frame).ok());
  Recorder sink;
  const std::string bytes = drain(*client);
  const Result<std::size_t> taken = server->received(bytes, sink);
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(*taken, bytes.size());
  EXPECT_EQ(sink.seen.at(0).body, "body");
}

TEST(Protocol, ChecksWhatAManifestAsksFor) {
  const auto motan = protocol({.serializers = {{"json", 9}}});
  const auto refusal = [&](Demands demands) {
    const Result<void> checked = motan->check(demands);
    if (checked.ok()) return std::string();
    EXPECT_EQ(checked.error().code(), Errc::config);
    return checked.error().text();
  };
  EXPECT_EQ(refusal({}), "");
  for (const char* name : {"simple", "protobuf", "hessian2", "motan-protobuf", "breeze", "json"})
    EXPECT_EQ(refusal({.serializer = name, .compressor = "gzip"}), "") << name;
  EXPECT_NE(refusal({.serializer = "cbor"}).find("no number for serializer \"cbor\"; it knows hessian2 (0), "),
            std::string::npos);
  EXPECT_NE(refusal({.serializer = "cbor"}).find("json (9)"), std::string::npos);
  EXPECT_NE(refusal({.compressor = "zstd"}).find("not by \"zstd\""), std::string::npos);
  EXPECT_NE(refusal({.streams = true}).find("no streams"), std::string::npos);
}

TEST(Protocol, RefusesOptions) {
  const auto refusal = [&](Motan2Options options) {
    const auto made = create(std::move(options));
    if (made.ok()) return std::string();
    EXPECT_EQ(made.error().code(), Errc::config);
    return made.error().text();
  };
  EXPECT_NE(refusal({.application = "a\nb"}).find("application has a newline"), std::string::npos);
  EXPECT_NE(refusal({.module_name = "\n"}).find("module_name has a newline"), std::string::npos);
  EXPECT_NE(refusal({.serializers = {{"json", 32}}}).find("serializers.json: 32 does not fit"), std::string::npos);
  EXPECT_NE(refusal({.serializers = {{"json", 6}}}).find("number 6 is simple's"), std::string::npos);
  EXPECT_NE(refusal({.serializers = {{"a", 9}, {"b", 9}}}).find("number 9 is a's"), std::string::npos);
  EXPECT_EQ(refusal({.serializers = {{"protobuf", 31}, {"mine", 1}}}), "") << "numbers may be moved";
}

TEST(Numbers, Table) {
  const auto table = SerializerNumbers::create({{"protobuf", 31}, {"mine", 1}});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->number("simple"), 6);
  EXPECT_EQ(table->number("protobuf"), 31);
  EXPECT_EQ(table->number("mine"), 1);
  EXPECT_EQ(table->number("json"), -1);
  EXPECT_EQ(table->number(""), -1);
  EXPECT_EQ(table->number("serializer 3"), -1) << "a name for messages only";
  EXPECT_EQ(table->name(3), "serializer 3");
  EXPECT_EQ(table->name(6), "simple");
  EXPECT_EQ(table->name(1), "mine");
}

}  // namespace
}  // namespace tenon::motan2::test
