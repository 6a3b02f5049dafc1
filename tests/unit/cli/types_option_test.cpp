#include "types_option.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace tenon::cli {
namespace {

std::string reread(std::string_view text) {
  const auto types = parse_types(text);
  if (!types.ok()) return types.error().text();
  std::string all;
  for (const SchemaType& type : *types) all += (all.empty() ? "" : ",") + to_text(type);
  return all;
}

TEST(TypesOption, EveryWordAndItsAlias) {
  EXPECT_EQ(reread("bool,i8,i16,i32,i64,u8,u16,u32,u64,f32,f64,string,bytes,value"),
            "bool,i8,i16,i32,i64,u8,u16,u32,u64,f32,f64,string,bytes,value");
  EXPECT_EQ(reread("boolean,byte,short,int,long,float,double"), "bool,i8,i16,i32,i64,f32,f64");
}

TEST(TypesOption, NothingMeansNoParameters) {
  for (const char* text : {"", "  "}) {
    const auto types = parse_types(text);
    ASSERT_TRUE(types.ok()) << types.error().text();
    EXPECT_TRUE(types->empty());
  }
}

TEST(TypesOption, ContainersOptionalsAndSpaces) {
  const auto types = parse_types(" map < string , list<i32> > , bytes ?,list<i64?>?");
  ASSERT_TRUE(types.ok()) << types.error().text();
  ASSERT_EQ(types->size(), 3u);
  const SchemaType i32{Kind::i32, false, "", {}};
  const SchemaType list{Kind::list, false, "", {i32}};
  const SchemaType key{Kind::string, false, "", {}};
  EXPECT_EQ((*types)[0], (SchemaType{Kind::map, false, "", {key, list}}));
  EXPECT_EQ((*types)[1], (SchemaType{Kind::bytes, true, "", {}}));
  EXPECT_EQ(to_text((*types)[2]), "list<i64?>?");
}

struct Mistake {
  const char* text;
  const char* column_and_words;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.text; }

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, PointAtTheirColumn) {
  const auto types = parse_types(GetParam().text);
  ASSERT_FALSE(types.ok()) << reread(GetParam().text);
  EXPECT_EQ(types.error().code(), Errc::config);
  EXPECT_EQ(types.error().text(),
            "--types '" + std::string(GetParam().text) + "': column " + GetParam().column_and_words);
}
INSTANTIATE_TEST_SUITE_P(
    TypesOption, Mistakes,
    testing::Values(Mistake{"i32,strnig", "5: no type \"strnig\", did you mean \"string\"?"},
                    Mistake{"i32,", "5: a type is missing at the end"},
                    Mistake{",i32", "1: expected a type, found \",i32\""},
                    Mistake{"i32 i64", "5: expected a comma or the end, found \"i64\""},
                    Mistake{"i32??", "5: expected a comma or the end, found \"?\""},
                    Mistake{"list", "5: expected '<' after list, found the end"},
                    Mistake{"list<i32", "9: expected '>' after the element's type, found the end"},
                    Mistake{"list<>", "6: expected a type, found \">\""},
                    Mistake{"map<string>", "11: expected ',' after the key's type, found \">\""},
                    Mistake{"map<string,i32,i32>", "15: expected '>' after the value's type, found \",i32>\""},
                    Mistake{"map<f64,i32>", "5: a map's key is text, an integer or a boolean, not f64"},
                    Mistake{"map<string?,i32>", "5: a map's key is text, an integer or a boolean, not string?"},
                    Mistake{"i32>", "4: expected a comma or the end, found \">\""},
                    Mistake{"i32<i64>", "4: expected a comma or the end, found \"<i64>\""},
                    Mistake{"duration",
                            "1: no type \"duration\"; there are: bool, boolean, byte, bytes, double, f32, f64, float, "
                            "i16, i32, i64, i8, int, list, long, map, short, string, u16, u32, u64, u8, value"}));

TEST(TypesOption, DepthIsThatOfSchemas) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "list<";
    text += "i32";
    return text + std::string(static_cast<std::size_t>(depth), '>');
  };
  const auto deepest = parse_types(nested(DynamicTypes::Limits().type_depth));
  ASSERT_TRUE(deepest.ok()) << deepest.error().text();
  Schema schema;
  schema.messages.push_back({"(…)", Form::arguments, {{1, "arg0", (*deepest)[0], ""}}});
  EXPECT_TRUE(DynamicTypes::create(schema).ok());
  const auto deeper = parse_types(nested(DynamicTypes::Limits().type_depth + 1));
  ASSERT_FALSE(deeper.ok());
  EXPECT_NE(deeper.error().text().find("column 86: types are nested too deeply"), std::string::npos)
      << deeper.error().text();
  EXPECT_FALSE(parse_types(nested(100000)).ok());
}

}  // namespace
}  // namespace tenon::cli
