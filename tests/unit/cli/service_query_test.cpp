#include "service_query.hpp"

#include <gtest/gtest.h>

namespace tenon::cli {
namespace {

const std::vector<ServiceName> known{{"demo.Greeter", "yf", "1.0"},
                                     {"demo.Greeter", "yf", "2.0"},
                                     {"demo.Greeter", "tc", "1.0"},
                                     {"demo.Users", "yf", ""}};

Result<ServiceName> one(const std::string& text, const std::string& group = {}, bool unknown = false) {
  auto query = ServiceQuery::parse(text, group);
  if (!query.ok()) return std::move(query).error();
  return query->one_of(known, unknown);
}

TEST(ServiceQueryTest, WhatIsLeftOutMayBeAnything) {
  EXPECT_EQ(*one("yf/demo.Greeter:2.0"), known[1]);
  EXPECT_EQ(*one("tc/demo.Greeter"), known[2]);
  EXPECT_EQ(*one("demo.Greeter:2.0"), known[1]);
  EXPECT_EQ(*one("demo.Users"), known[3]);
  EXPECT_EQ(*one("demo.Greeter", "tc"), known[2]);
  EXPECT_EQ(*one("tc/demo.Greeter", "tc"), known[2]);
}

TEST(ServiceQueryTest, SeveralAreListed) {
  const auto several = one("demo.Greeter", "yf");
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().text(),
            "yf/demo.Greeter may be any of 2 services: yf/demo.Greeter:1.0, yf/demo.Greeter:2.0; say which as "
            "GROUP/INTERFACE:VERSION");
  EXPECT_EQ(one("demo.Greeter:1.0").error().code(), Errc::invalid_argument);
}

TEST(ServiceQueryTest, UnknownOnesAreNamedWithWhatThereIs) {
  const auto none = one("demo.Greter");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), Errc::not_found);
  EXPECT_EQ(none.error().text(), "the registry has no service demo.Greter, did you mean \"demo.Greeter\"?");
  EXPECT_NE(one("x/y").error().text().find("it has: tc/demo.Greeter:1.0, yf/demo.Greeter:1.0, yf/demo.Greeter:2.0, "),
            std::string::npos)
      << one("x/y").error().text();
  EXPECT_EQ(*one("later/demo.New:3", {}, true), (ServiceName{"demo.New", "later", "3"})) << "somebody waits for it";
}

TEST(ServiceQueryTest, WhatIsNoServiceIsRefused) {
  for (const char* text : {"", "/", "yf/", "/demo.Greeter", ":1.0", "yf/:1"})
    EXPECT_EQ(ServiceQuery::parse(text, "").error().code(), Errc::config) << text;
  EXPECT_FALSE(ServiceQuery::parse("yf/demo.Greeter", "tc").ok());
  EXPECT_TRUE(ServiceQuery("yf").matches(known[3]));
  EXPECT_FALSE(ServiceQuery("yf").matches(known[2]));
  EXPECT_TRUE(ServiceQuery().matches(known[2]));
}

Instance instance(const std::string& id, const std::string& address) {
  Instance made;
  made.id = id;
  made.address = address;
  return made;
}

TEST(FindInstanceTest, ByIdOrAddress) {
  const std::vector<Instance> all{instance("a", "h:1"), instance("b", "h:1"), instance("h:2", "h:2"),
                                  instance("c", "h:3")};
  EXPECT_EQ(find_instance(all, "b", known[0])->address, "h:1");
  EXPECT_EQ(find_instance(all, "h:3", known[0])->id, "c");
  EXPECT_EQ(find_instance(all, "h:2", known[0])->id, "h:2");
  const auto several = find_instance(all, "h:1", known[0]);
  EXPECT_EQ(several.error().code(), Errc::invalid_argument);
  EXPECT_EQ(several.error().text(), "yf/demo.Greeter:1.0: 2 instances are at h:1; say which by its id: a, b");
  const auto none = find_instance(all, "h:9", known[0]);
  EXPECT_EQ(none.error().code(), Errc::not_found);
  EXPECT_NE(none.error().text().find("it has: h:1 (id a), h:1 (id b), h:2, h:3 (id c)"), std::string::npos)
      << none.error().text();
  EXPECT_NE(find_instance({}, "h:9", known[0]).error().text().find("it has: none"), std::string::npos);
}

}  // namespace
}  // namespace tenon::cli
