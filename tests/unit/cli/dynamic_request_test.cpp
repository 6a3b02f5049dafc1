#include "dynamic_request.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "generic_call.hpp"
#include "interface_types.hpp"
#include "types_option.hpp"

namespace tenon::cli {
namespace {

constexpr std::int64_t i32_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t i32_min = std::numeric_limits<std::int32_t>::min();

Value list_of(Value::List elements) { return Value::of_list(std::move(elements)); }

TEST(UntypedArguments, IntegersBecomeTheSmallerKindThatHoldsThem) {
  const Value::List arguments = untyped_arguments(
      list_of({std::int64_t{-3}, i32_max, i32_max + 1, i32_min, i32_min - 1, std::uint64_t{7},
               std::uint64_t{std::numeric_limits<std::int64_t>::max()}, std::numeric_limits<std::uint64_t>::max()}));
  const Value::List expected{std::int32_t{-3},
                             static_cast<std::int32_t>(i32_max),
                             i32_max + 1,
                             static_cast<std::int32_t>(i32_min),
                             i32_min - 1,
                             std::int32_t{7},
                             std::numeric_limits<std::int64_t>::max(),
                             std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(arguments, expected);
}

TEST(UntypedArguments, AtEveryDepthAndNothingElseChanges) {
  Value inner;
  inner["a"] = std::int64_t{1};
  inner["b"] = list_of({std::int64_t{2}, 1.0, "3", true, nullptr});
  Value wanted;
  wanted["a"] = std::int32_t{1};
  wanted["b"] = list_of({std::int32_t{2}, 1.0, "3", true, nullptr});
  EXPECT_EQ(untyped_arguments(list_of({inner})), Value::List{wanted});
}

TEST(UntypedArguments, WhatIsNoListIsOneArgument) {
  Value map;
  map["n"] = std::int32_t{5};
  EXPECT_EQ(untyped_arguments(map), Value::List{map});
  EXPECT_EQ(untyped_arguments(Value("Ray")), Value::List{"Ray"});
  EXPECT_EQ(untyped_arguments(Value()), Value::List{Value()});
  EXPECT_TRUE(untyped_arguments(list_of({})).empty());
}

TEST(NarrowDynamic, OnlyPartsWithoutADeclaredKind) {
  const auto types = parse_types("list<i64>,list<value>,map<string,value>");
  ASSERT_TRUE(types.ok());
  Value exact = list_of({std::int64_t{1}});
  narrow_dynamic(exact, (*types)[0]);
  EXPECT_EQ(exact, list_of({std::int64_t{1}}));
  Value loose = list_of({std::int64_t{1}});
  narrow_dynamic(loose, (*types)[1]);
  EXPECT_EQ(loose, list_of({std::int32_t{1}}));
  Value map;
  map["k"] = std::int64_t{1};
  narrow_dynamic(map, (*types)[2]);
  EXPECT_EQ(*map.find("k"), Value(std::int32_t{1}));
}

std::string complaint(const Value& json, std::string_view types) {
  const auto parsed = parse_types(types);
  EXPECT_TRUE(parsed.ok());
  const Result<void> fits = check_arguments(json, *parsed);
  return fits.ok() ? "" : fits.error().text();
}

TEST(CheckArguments, CountAndNull) {
  EXPECT_EQ(complaint(list_of({}), ""), "");
  EXPECT_EQ(complaint(list_of({true, nullptr, nullptr}), "bool,i32?,value"), "");
  EXPECT_EQ(complaint(list_of({true}), "bool,i32"),
            "the JSON must be a list of 2 arguments because --types has 2 types; it has 1");
  EXPECT_EQ(complaint(list_of({true}), ""),
            "the JSON must be a list of 0 arguments because --types has 0 types; it has 1");
  EXPECT_EQ(complaint(Value::of_map(), "bool"),
            "the JSON must be a list of 1 argument because --types has 1 type; it is an object");
  EXPECT_EQ(complaint(Value("x"), "string"),
            "the JSON must be a list of 1 argument because --types has 1 type; it is a single value");
  EXPECT_EQ(complaint(list_of({true, nullptr}), "bool,list<i32>"),
            "argument 2 is null, but its type is list<i32> (list<i32>? would allow it)");
}

TEST(DescribesNothing, OnlyWhenTheDescribingServiceDidNotAnswer) {
  EXPECT_TRUE(describes_nothing(Error(Errc::not_found, "no service", Delivery::not_run)));
  EXPECT_TRUE(describes_nothing(Error(Errc::unimplemented, "not carried", Delivery::not_run)));
  EXPECT_TRUE(describes_nothing(Error(Errc::invalid_argument, "not carried", Delivery::not_run)));
  EXPECT_FALSE(describes_nothing(Error(Errc::not_found, "no such interface", Delivery::ran)));
  EXPECT_FALSE(describes_nothing(Error(Errc::invalid_argument, "?", Delivery::maybe_run)));
  EXPECT_FALSE(describes_nothing(Error(Errc::unavailable, "nobody there", Delivery::not_run)));
  EXPECT_FALSE(describes_nothing(Error(Errc::deadline_exceeded, "late", Delivery::not_run)));
}

TEST(ShowsKinds, ByContentType) {
  EXPECT_TRUE(shows_kinds("json"));
  EXPECT_TRUE(shows_kinds("simple"));
  EXPECT_FALSE(shows_kinds("protobuf"));
}

TEST(FromParameters, OneMethodOfThoseTypes) {
  const auto types = parse_types("int,map<string,bytes>?");
  ASSERT_TRUE(types.ok());
  const auto made = InterfaceTypes::from_parameters("com.x.Foo", "add", *types);
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto method = (*made)->find("add");
  ASSERT_TRUE(method.ok());
  const MessageType& input = *(*method)->input;
  EXPECT_EQ(input.name(), "(i32, map<string,bytes>?)");
  EXPECT_EQ(input.form(), Form::arguments);
  ASSERT_EQ(input.fields().size(), 2u);
  EXPECT_EQ(input.fields()[0].type->kind, Kind::i32);
  EXPECT_TRUE(input.fields()[1].type->optional);
  EXPECT_EQ((*method)->output, &message_type<Value>());
  EXPECT_FALSE((*method)->idempotent);

  const Object request(input);
  *static_cast<Value*>(request.get()) = Value::of_list({std::int64_t{7}, nullptr});
  const Result<Value> seen = Value::of(input, request.get());
  ASSERT_TRUE(seen.ok()) << seen.error().text();
  EXPECT_EQ(*seen->find("arg0"), Value(std::int32_t{7}));
}

TEST(FromParameters, ManyTypesHaveAShortName) {
  const std::vector<SchemaType> types(300, SchemaType{Kind::i32, false, "", {}});
  const auto made = InterfaceTypes::from_parameters("com.x.Foo", "add", types);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ((*(*made)->find("add"))->input->name(), "(300 arguments)");
}

}  // namespace
}  // namespace tenon::cli
