// Motan's error JSON to Error and back, Tenon's Error to that JSON and back.
#include "failure.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "pair.hpp"

namespace tenon::motan2::test {
namespace {

namespace json = boost::json;

/// What metadata say, by the tests' own parser.
std::map<std::string, std::string> pairs(const std::string& metadata) {
  EXPECT_TRUE(metadata.empty() || metadata.back() == '\n');
  return Wire{.metadata = metadata.substr(0, metadata.size() - 1)}.pairs();
}

Error read(const std::string& metadata) {
  ResponseMetadata told;
  EXPECT_TRUE(read_response(metadata, 100, told).ok());
  return get_failure(told);
}
Error read_json(const std::string& exception) { return read("M_e\n" + exception); }

std::map<std::string, std::string> put(const Error& error, bool framework = false) {
  std::string metadata;
  put_failure(metadata, error, framework);
  return pairs(metadata);
}

struct Row {
  std::int64_t code;
  std::int64_t type;  ///< the usual one
  Errc errc;
  Delivery delivery;
  Advice advice;
};
constexpr Row rows[] = {
    {404, 1, Errc::not_found, Delivery::not_run, Advice::other_instance},
    {501, 1, Errc::unimplemented, Delivery::not_run, Advice::never},
    {10001, 1, Errc::internal, Delivery::maybe_run, Advice::none},
    {10002, 1, Errc::overloaded, Delivery::not_run, Advice::other_instance},
    {10003, 1, Errc::deadline_exceeded, Delivery::maybe_run, Advice::none},
    {10004, 1, Errc::cancelled, Delivery::maybe_run, Advice::never},
    {10101, 1, Errc::not_found, Delivery::not_run, Advice::never},
    {10201, 1, Errc::too_large, Delivery::not_run, Advice::never},
    {20001, 0, Errc::internal, Delivery::maybe_run, Advice::none},
    {20002, 0, Errc::internal, Delivery::maybe_run, Advice::none},
    {20003, 0, Errc::malformed, Delivery::maybe_run, Advice::never},
    {20004, 0, Errc::unavailable, Delivery::not_run, Advice::other_instance},
    {20005, 0, Errc::unavailable, Delivery::not_run, Advice::other_instance},
    {20006, 0, Errc::unavailable, Delivery::maybe_run, Advice::other_instance},
    {20007, 0, Errc::unavailable, Delivery::not_run, Advice::other_instance},
    {20008, 0, Errc::unavailable, Delivery::not_run, Advice::other_instance},
    {30001, 2, Errc::application, Delivery::ran, Advice::never},
    {400, 1, Errc::unavailable, Delivery::maybe_run, Advice::other_instance},
    {500, 1, Errc::internal, Delivery::maybe_run, Advice::none},
    {1001, 1, Errc::unavailable, Delivery::not_run, Advice::other_instance},
    {1002, 1, Errc::unavailable, Delivery::not_run, Advice::other_instance},
    {1003, 1, Errc::malformed, Delivery::not_run, Advice::never},
    {1004, 1, Errc::malformed, Delivery::maybe_run, Advice::never},
};

TEST(Failure, EveryCodeOfMotanIsKept) {
  const std::string message = "provider \"x\" said:\n\t{no} \xe4\xbd\xa0 \xf0\x9f\x98\x80";
  for (const Row& row : rows) {
    for (const std::int64_t type : {0, 1, 2, 3, -1}) {
      const json::value said{{"errcode", row.code}, {"errmsg", message}, {"errtype", type}};
      const Error error = read_json(json::serialize(said));
      EXPECT_EQ(error.code(), row.errc) << row.code;
      EXPECT_EQ(error.delivery(), row.delivery) << row.code;
      EXPECT_EQ(error.advice(), row.advice) << row.code;
      EXPECT_EQ(error.text(), message);
      EXPECT_EQ(error.domain(), error_domain);
      EXPECT_EQ(error.foreign_code(), row.code);
      EXPECT_EQ(error.headers() != nullptr, type != row.type) << "an unusual errtype is kept";
      for (const bool framework : {false, true}) {
        auto sent = put(error, framework);
        EXPECT_EQ(json::parse(sent["M_e"]), said);
        EXPECT_EQ(sent.size(), 1u) << "nothing that a Motan peer would have to ignore";
      }
    }
  }
}

TEST(Failure, UnknownCodesByTheirType) {
  for (const std::int64_t code : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{12345}, std::int64_t{30002},
                                  std::int64_t{20009}, INT64_MAX, INT64_MIN}) {
    for (const std::int64_t type : {0, 1, 2, 9}) {
      const json::value said{{"errcode", code}, {"errmsg", "m"}, {"errtype", type}};
      const Error error = read_json(json::serialize(said));
      EXPECT_EQ(error.code(), type == 2 ? Errc::application : Errc::internal) << code << " " << type;
      EXPECT_EQ(error.delivery(), type == 2 ? Delivery::ran : Delivery::maybe_run);
      EXPECT_EQ(error.foreign_code(), code);
      auto sent = put(error);
      EXPECT_EQ(json::parse(sent["M_e"]), said);
      EXPECT_EQ(sent.size(), 1u);
    }
  }
}

TEST(Failure, AttachmentsAreKept) {
  const Error error = read("a\n1\nM_e\n{\"errcode\":404,\"errtype\":0,\"errmsg\":\"m\"}\nM_pt\n5\nb\n");
  ASSERT_NE(error.headers(), nullptr);
  EXPECT_EQ(*error.headers(), (Headers{{"a", "1"}, {"b", ""}, {"errtype", "0"}}));
  auto sent = put(error);
  EXPECT_EQ(sent.at("a"), "1");
  EXPECT_EQ(sent.at("b"), "");
  EXPECT_EQ(sent.count("errtype"), 0u);
  // Whatever stands in the JSON's place.
  const Error odd = read("a\n1\nM_e\nnothing");
  ASSERT_NE(odd.headers(), nullptr);
  EXPECT_EQ(*odd.headers(), (Headers{{"a", "1"}}));
}

TEST(Failure, JsonInAnyOrderAndWithMore) {
  for (const char* said :
       {R"({"errcode":10002,"errtype":1,"errmsg":"m"})", R"({"errmsg":"m","errtype":1,"errcode":10002})",
        R"( { "errtype" : 1 , "more" : [ {} , null ] , "errmsg" : "m" , "errcode" : 10002 } )",
        R"({"errcode":10002,"errmsg":"\u006d"})"}) {
    const Error error = read_json(said);
    EXPECT_EQ(error.code(), Errc::overloaded) << said;
    EXPECT_EQ(error.text(), "m");
    EXPECT_EQ(error.headers(), nullptr);
  }
}

TEST(Failure, ATextIsNeverEmpty) {
  for (const char* said : {R"({"errcode":404})", R"({"errcode":404,"errmsg":null})", R"({"errcode":404,"errmsg":""})",
                           R"({"errcode":404,"errmsg":7})", R"({"errcode":404,"errtype":"1","errmsg":[]})"}) {
    const Error error = read_json(said);
    EXPECT_EQ(error.code(), Errc::not_found) << said;
    EXPECT_EQ(error.foreign_code(), 404);
    EXPECT_EQ(error.text(), "errcode 404");
  }
}

TEST(Failure, WhatIsNotMotansJson) {
  const std::string deep(100'000, '[');
  for (const std::string& said :
       {std::string(), std::string("java.lang.NullPointerException"), std::string("{"), std::string("[]"),
        std::string("null"), std::string("404"), std::string("{}"), std::string(R"({"errcode":"404"})"),
        std::string(R"({"errcode":404.5})"), std::string(R"({"errcode":null})"),
        std::string(R"({"errcode":99999999999999999999})"), std::string(R"({"errcode":18446744073709551615})"),
        std::string(R"({"errcode":404} x)"), std::string("{\"errcode\":404,\"errmsg\":\"\xff\"}"), deep}) {
    const Error error = read_json(said);
    ASSERT_TRUE(error);
    EXPECT_EQ(error.code(), Errc::internal) << said.substr(0, 100);
    EXPECT_EQ(error.delivery(), Delivery::maybe_run);
    EXPECT_EQ(error.advice(), Advice::none);
    EXPECT_EQ(error.domain(), "");
    EXPECT_NE(error.text().find(said.empty() ? "says nothing" : said.substr(0, 10)), std::string::npos);
    EXPECT_LT(error.text().size(), 17'000u);
  }
}

/// The errcode Motan peers see.
std::int64_t wanted_code(Errc code, Delivery delivery, Advice advice, bool framework) {
  if (code == Errc::deadline_exceeded) return 10003;
  if (code == Errc::cancelled) return 10004;
  if (delivery == Delivery::ran) return 30001;
  if (delivery == Delivery::maybe_run) return 10001;
  switch (code) {
    case Errc::not_found: return framework ? 501 : advice == Advice::never ? 10101 : 404;
    case Errc::overloaded: return 10002;
    case Errc::unavailable: return 10002;
    case Errc::too_large: return 10201;
    default: return 10001;
  }
}

TEST(Failure, EveryErrorOfTenonComesBack) {
  struct Own {
    const char* domain;
    std::int64_t code;
  };
  std::size_t count = 0;
  for (int at = 1; at <= static_cast<int>(Errc::already_exists); ++at)
    for (const Delivery delivery : {Delivery::not_run, Delivery::maybe_run, Delivery::ran})
      for (const Advice advice : {Advice::none, Advice::other_instance, Advice::after, Advice::never})
        for (const Own& own : {Own{"", 0}, Own{"shop", 42}, Own{"a shop of two words", INT64_MIN}, Own{"zero", 0}})
          for (const bool framework : {false, true}) {
            const auto errc = static_cast<Errc>(at);
            Error error(errc, "why", delivery);
            error.advise(advice, std::chrono::milliseconds(advice == Advice::after ? 1500 : 0));
            if (*own.domain) error.foreign(own.domain, own.code);
            const std::string shown = std::string(to_string(errc)) + " " + std::string(to_string(delivery)) + " " +
                                      std::to_string(int(advice)) + " " + own.domain;
            std::string metadata;
            put_failure(metadata, error, framework);
            const auto said = json::parse(pairs(metadata)["M_e"]);
            const std::int64_t code = said.at("errcode").as_int64();
            EXPECT_EQ(code, wanted_code(errc, delivery, advice, framework)) << shown;
            EXPECT_EQ(said.at("errtype").as_int64(), code == 30001 ? 2 : 1) << shown;
            if (delivery != Delivery::not_run) {
              EXPECT_TRUE(code != 404 && code != 501 && code != 10002 && code != 10101 && code != 10201) << shown;
            }
            const Error back = read(metadata);
            EXPECT_EQ(back.code(), errc) << shown;
            EXPECT_EQ(back.delivery(), delivery) << shown;
            EXPECT_EQ(back.advice(), advice) << shown;
            EXPECT_EQ(back.retry_after(), error.retry_after()) << shown;
            // An error that its code says all about shows where it comes from.
            const bool told = pairs(metadata).count("tenon.error") != 0;
            EXPECT_TRUE(told || !*own.domain) << shown;
            EXPECT_EQ(back.domain(), told ? own.domain : "motan") << shown;
            EXPECT_EQ(back.foreign_code(), told ? own.code : code) << shown;
            EXPECT_TRUE(back.text().ends_with("why"));
            ++count;
          }
  EXPECT_EQ(count, 16u * 3 * 4 * 4 * 2);
}

// A handler that hands on what another Motan server told it has run: its caller must not send the request again.
TEST(Failure, AForeignErrorOfAHandlerHasRun) {
  Error error = read_json(R"({"errcode":10002,"errtype":0,"errmsg":"full"})");
  ASSERT_EQ(error.delivery(), Delivery::not_run);
  error.deliver(Delivery::ran);
  std::string metadata;
  put_failure(metadata, error, false);
  EXPECT_EQ(json::parse(pairs(metadata)["M_e"]), (json::value{{"errcode", 10002}, {"errmsg", "full"}, {"errtype", 0}}));
  const Error back = read(metadata);
  EXPECT_EQ(back.delivery(), Delivery::ran);
  EXPECT_EQ(back.code(), Errc::overloaded);
  EXPECT_EQ(back.domain(), "motan");
  EXPECT_EQ(back.foreign_code(), 10002);
  ASSERT_NE(back.headers(), nullptr);
  EXPECT_EQ(*back.headers(), (Headers{{"errtype", "0"}}));
}

TEST(Failure, TheTimeToWaitComesBack) {
  Error error(Errc::overloaded, "full", Delivery::not_run);
  error.advise(Advice::other_instance, 70ms);
  std::string metadata;
  put_failure(metadata, error, false);
  EXPECT_EQ(read(metadata).retry_after(), 70ms);
}

// The header that keeps an errtype is not one that a service happened to send.
TEST(Failure, AnAttachmentCalledErrtypeIsNoErrtype) {
  const Error error = read("errtype\n2\nM_e\n{\"errcode\":10002,\"errtype\":1,\"errmsg\":\"m\"}");
  EXPECT_EQ(error.headers(), nullptr);
  EXPECT_EQ(json::parse(put(error)["M_e"]).at("errtype").as_int64(), 1);
}

TEST(Failure, TextsMotansClientsLookAt) {
  const Error missing(Errc::not_found, "no service here", Delivery::not_run, Advice::other_instance);
  const auto text = [](const std::string& metadata) {
    return std::string(json::parse(pairs(metadata)["M_e"]).at("errmsg").as_string());
  };
  std::string metadata;
  put_failure(metadata, missing, false, "g/demo.Greeter/1.0");
  EXPECT_EQ(text(metadata), "provider not exist serviceKey=g/demo.Greeter/1.0: no service here");
  metadata.clear();
  put_failure(metadata, missing, true, "g/demo.Greeter/1.0");
  EXPECT_EQ(text(metadata), "service not support: no service here");
  metadata.clear();
  put_failure(metadata, read_json(R"({"errcode":404,"errmsg":"theirs"})"), false, "g/demo.Greeter/1.0");
  EXPECT_EQ(text(metadata), "theirs") << "handed on as it was";
}

TEST(Failure, AnyTextCanBeRead) {
  for (const std::string& text :
       {std::string("new\nline and \"quotes\" \\ \t\r"), std::string("a\0b", 3), std::string("\xff\xfe"),
        std::string("cut \xe4\xbd"), std::string("\xed\xa0\x80"), std::string(20'000, '\xff'),
        std::string(16'383, 'a') + "\xe4\xbd\xa0", std::string(70'000, '\n'), std::string(20'000, '\x7f')}) {
    std::string metadata;
    put_failure(metadata, Error(Errc::application, text, Delivery::ran, Advice::never).foreign("shop", 3), false);
    EXPECT_LT(metadata.size(), 18'000u);
    const Error back = read(metadata);
    EXPECT_EQ(back.code(), Errc::application);
    EXPECT_EQ(back.domain(), "shop");
    if (text.size() < 100 && text.find_first_of("\xff\xfe\xe4\xed") == std::string::npos) {
      EXPECT_EQ(back.text(), text);
    }
  }
}

TEST(Failure, DomainsThatDoNotFitAreLeftOut) {
  for (const std::string& domain : {std::string("two\nlines"), std::string(1000, 'd')}) {
    std::string metadata;
    put_failure(metadata, Error(Errc::permission_denied, "no", Delivery::ran, Advice::never).foreign(domain, 3), false);
    const Error back = read(metadata);
    EXPECT_EQ(back.code(), Errc::permission_denied);
    EXPECT_EQ(back.domain(), "");
    EXPECT_EQ(back.foreign_code(), 3);
  }
}

TEST(Failure, DetailThatCannotBeUnderstoodIsIgnored) {
  for (const char* detail :
       {"", "application", "application 2", "application 2 3 0", "application 3 3 0 0 x", "application 2 4 0 0 x",
        "application -1 0 0 0 x", "application 2 3 -1 0 x", "application 2 3 0 ten x", "ok 2 3 0 0 x",
        "nonsense 2 3 0 0 x", "application 2 3 0 99999999999999999999 x", "application  2 3 0 0 x", "7 2 3 0 0 x"}) {
    const Error error = read(std::string("tenon.error\n") + detail + "\nM_e\n{\"errcode\":10002,\"errmsg\":\"m\"}");
    EXPECT_EQ(error.code(), Errc::overloaded) << detail;
    EXPECT_EQ(error.domain(), "motan") << detail;
  }
  const Error large = read("tenon.error\napplication 2 3 0 5 " + std::string(257, 'd') + "\nM_e\n{\"errcode\":10002}");
  EXPECT_EQ(large.domain(), "motan");
  const Error good = read("tenon.error\napplication 2 3 0 5 x y\nM_e\n{\"errcode\":10002,\"errmsg\":\"m\"}");
  EXPECT_EQ(good.code(), Errc::application);
  EXPECT_EQ(good.domain(), "x y");
}

TEST(Failure, OverTheWire) {
  Pair pair;
  for (const bool framework : {false, true}) {
    Frame ask = request(pair.hello, 3);
    if (framework) ask.headers = {{"M_fws", "y"}};
    ASSERT_TRUE(pair.client.session.send(ask).ok());
    ASSERT_FALSE(pair.to_server());
    Frame frame = failure(pair.server.take().at(0).call, Error(Errc::not_found, "none", Delivery::not_run));
    frame.took = 9ms;
    ASSERT_TRUE(pair.server.session.send(frame).ok());
    const Wire sent = Wire::all(pair.server.drain()).at(0);
    EXPECT_EQ(json::parse(sent.pairs().at("M_e")).at("errcode").as_int64(), framework ? 501 : 404);
    EXPECT_EQ(sent.status, 1u);
    EXPECT_EQ(sent.serializer, 6u);
    EXPECT_TRUE(sent.body.empty());
    ASSERT_FALSE(pair.client.feed(sent.bytes()));
    const Seen seen = pair.client.take().at(0);
    EXPECT_EQ(seen.kind, FrameKind::error);
    EXPECT_EQ(seen.call, 3u);
    EXPECT_EQ(seen.error.code(), Errc::not_found);
    EXPECT_EQ(seen.error.advice(), Advice::none);
    EXPECT_EQ(seen.took, 9ms);
  }
}

TEST(Failure, StatusAndExceptionEachMakeAnError) {
  Pair pair;
  const Wire answers[] = {{.type = 1, .status = 1},
                          {.type = 1, .status = 1, .metadata = "M_e\n"},
                          {.type = 1, .status = 7, .body = "x"},
                          {.type = 1, .status = 0, .metadata = "M_e\n{\"errcode\":500}", .body = "x"}};
  for (Wire answer : answers) {
    Frame ask = request(pair.hello, 3);
    ASSERT_TRUE(pair.client.session.send(ask).ok());
    answer.id = Wire::all(pair.client.drain()).at(0).id;
    ASSERT_FALSE(pair.client.feed(answer.bytes()));
    const Seen seen = pair.client.take().at(0);
    EXPECT_EQ(seen.kind, FrameKind::error);
    EXPECT_EQ(seen.error.code(), Errc::internal);
  }
}

}  // namespace
}  // namespace tenon::motan2::test
