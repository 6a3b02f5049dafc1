#include <gtest/gtest.h>

#include <map>

#include "tenon/describe.hpp"
#include "tenon/value.hpp"

namespace demo {

enum class Policy { round_robin, weighted = 7 };
BOOST_DESCRIBE_ENUM(Policy, round_robin, weighted)

struct Part {
  std::int32_t size = 3;
};
BOOST_DESCRIBE_STRUCT(Part, (), (size))

struct Thing {
  static constexpr std::string_view kind = "thing";
  virtual ~Thing() = default;
  virtual int answer() const = 0;
};
struct Fortytwo final : Thing {
  int answer() const override { return 42; }
};

struct Options {
  std::string name = "x";
  std::chrono::milliseconds timeout{1500};
  tenon::ByteSize limit{64u << 10};
  std::vector<std::string> tags{"a", "b"};
  Policy policy = Policy::weighted;
  Part pool;
  std::optional<double> ratio;
  tenon::Use<Thing> thing;
  std::map<std::string, Policy> rules{{"r", Policy::round_robin}};
};
BOOST_DESCRIBE_STRUCT(Options, (), (name, timeout, limit, tags, policy, pool, ratio, thing, rules))

struct Named {
  std::string first;
  std::string second;
  std::string third;
};
BOOST_DESCRIBE_STRUCT(Named, (), (first, second, third))

struct Derived : Part {
  bool extra = true;
};
BOOST_DESCRIBE_STRUCT(Derived, (Part), (extra))

struct Node {
  std::vector<Node> kids;
  std::map<std::string, Node> named;
};
BOOST_DESCRIBE_STRUCT(Node, (), (kids, named))

}  // namespace demo

template <>
struct tenon::Describe<demo::Named> {
  static constexpr std::string_view name = "acme.Named";
  static constexpr auto members =
      tenon::members(tenon::member("first", "the first"), tenon::member("second", 7, "the second"),
                     tenon::member("third", 8), tenon::reserved(2, 6));
};

namespace {

using tenon::described::check_numbers;
using tenon::described::FieldPlan;
using tenon::described::NumberFault;
constexpr FieldPlan plans[] = {{"a", nullptr}, {"b", nullptr}};
template <class... Spec>
constexpr NumberFault fault(Spec... specs) {
  const auto list = tenon::members(specs...);
  return check_numbers(plans, list);
}
// What static_assert refuses for a described struct.
static_assert(fault() == NumberFault::none);
static_assert(fault(tenon::member("a", 0u)) == NumberFault::zero);
static_assert(fault(tenon::member("a", 2u)) == NumberFault::twice);
static_assert(fault(tenon::member("a", 5u), tenon::member("b", 5u)) == NumberFault::twice);
static_assert(fault(tenon::member("c", 5u)) == NumberFault::no_member);
static_assert(fault(tenon::reserved(2)) == NumberFault::reserved);
static_assert(fault(tenon::member("a", 19500u)) == NumberFault::range);
static_assert(fault(tenon::member("a", 1u << 29)) == NumberFault::range);
static_assert(fault(tenon::member("a", 2u), tenon::member("b", 1u)) == NumberFault::none);

// Usable before any dynamic initialisation.
constexpr const tenon::MessageType& early = tenon::message_type<demo::Node>();

TEST(Describe, NamesNumbersAndHelp) {
  const tenon::MessageType& type = tenon::message_type<demo::Named>();
  EXPECT_EQ(type.name(), "acme.Named");
  ASSERT_EQ(type.fields().size(), 3u);
  EXPECT_EQ(type.fields()[0].number, 1u);
  EXPECT_EQ(type.fields()[0].help, "the first");
  EXPECT_EQ(type.fields()[1].number, 7u);
  EXPECT_EQ(type.find(8u)->name, "third");
  EXPECT_EQ(type.find(2u), nullptr);
  EXPECT_EQ(type.find("second")->index, 1u);
  EXPECT_EQ(tenon::message_type<demo::Part>().name(), "demo.Part");
  EXPECT_EQ(&early, &tenon::message_type<demo::Node>());
}

TEST(Describe, BasesComeFirst) {
  const auto fields = tenon::message_type<demo::Derived>().fields();
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[0].name, "size");
  EXPECT_EQ(fields[1].name, "extra");
}

TEST(Describe, TypeTexts) {
  const auto text = [](std::string_view name) {
    return tenon::type_text(*tenon::message_type<demo::Options>().find(name)->type);
  };
  EXPECT_EQ(text("name"), "string");
  EXPECT_EQ(text("timeout"), "duration");
  EXPECT_EQ(text("limit"), "size");
  EXPECT_EQ(text("tags"), "list of string");
  EXPECT_EQ(text("policy"), "round_robin|weighted");
  EXPECT_EQ(text("pool"), "demo.Part");
  EXPECT_EQ(text("ratio"), "optional f64");
  EXPECT_EQ(text("thing"), "component thing");
  EXPECT_EQ(text("rules"), "map of string to round_robin|weighted");
  EXPECT_EQ(tenon::type_of<demo::Node>().message, &early);
  EXPECT_EQ(early.find("kids")->type->element->message, &early);
}

TEST(Describe, UnnamedTypes) {
  EXPECT_EQ((tenon::message_type<tenon::Arguments<std::string, int>>().name()), "(string, i32)");
  EXPECT_EQ(tenon::message_type<tenon::Arguments<>>().name(), "()");
  EXPECT_EQ(tenon::message_type<tenon::Bare<std::vector<bool>>>().name(), "list of boolean");
  const auto& many = tenon::message_type<tenon::Arguments<int, int, int, int, int, int, int, int, int, int, int>>();
  EXPECT_EQ(many.fields()[10].name, "arg11");
}

struct Collected final : tenon::MemberVisitor {
  void member(std::string_view path, const tenon::Field& field, const std::string& value) override {
    text += std::string(path) + ": " + tenon::type_text(*field.type) + " = " + value + "\n";
  }
  std::string text;
};

TEST(Describe, DefaultsForPeople) {
  const tenon::MessageType& type = tenon::message_type<demo::Options>();
  void* defaults = type.create();
  Collected collected;
  visit_members(type, defaults, collected);
  type.destroy(defaults);
  EXPECT_EQ(collected.text,
            "name: string = x\n"
            "timeout: duration = 1500ms\n"
            "limit: size = 64KiB\n"
            "tags: list of string = [a, b]\n"
            "policy: round_robin|weighted = weighted\n"
            "pool: demo.Part = {size: 3}\n"
            "pool.size: i32 = 3\n"
            "ratio: optional f64 = \n"
            "thing: component thing = \n"
            "rules: map of string to round_robin|weighted = {r: round_robin}\n");
}

// A reader that offers exactly one component, for the member "thing".
class ComponentReader final : public tenon::Reader {
 public:
  tenon::Kind peek() override { return tenon::Kind::component; }
  bool null() override { return false; }
  bool boolean(bool&) override { return false; }
  bool integer(std::int64_t&, tenon::Kind) override { return false; }
  bool unsigned_integer(std::uint64_t&, tenon::Kind) override { return false; }
  bool floating(double&, tenon::Kind) override { return false; }
  bool string(std::string&) override { return false; }
  bool bytes(std::string&) override { return false; }
  bool enumeration(std::int32_t&, const tenon::EnumType&) override { return false; }
  bool duration(std::chrono::nanoseconds&) override { return false; }
  bool begin_list(const tenon::Type*) override { return false; }
  bool next_element() override { return false; }
  bool begin_map(const tenon::Type*, const tenon::Type*) override { return false; }
  bool next_entry() override { return false; }
  bool begin_message(const tenon::MessageType&) override { return true; }
  const tenon::Field* next_field(const tenon::MessageType& type) override {
    return std::exchange(given_, true) ? nullptr : type.find("thing");
  }
  bool key(std::string&) override { return false; }
  bool component(tenon::ComponentSlot& slot) override {
    EXPECT_EQ(slot.kind(), "thing");
    slot.fill(std::shared_ptr<demo::Thing>(std::make_shared<demo::Fortytwo>()));
    return true;
  }

 private:
  bool given_ = false;
};

TEST(Describe, ComponentsComeFromTheReader) {
  demo::Options options;
  ComponentReader reader;
  tenon::message_type<demo::Options>().read(&options, reader);
  ASSERT_TRUE(options.thing);
  EXPECT_EQ(options.thing->answer(), 42);
}

TEST(Describe, ClearRestoresDefaults) {
  const tenon::MessageType& type = tenon::message_type<demo::Options>();
  demo::Options options;
  options.name = "changed";
  options.tags.clear();
  options.ratio = 1;
  type.clear(&options);
  EXPECT_EQ(options.name, "x");
  EXPECT_EQ(options.tags.size(), 2u);
  EXPECT_FALSE(options.ratio);
  demo::Options other;
  other.name = "other";
  type.copy(&other, &options);
  EXPECT_EQ(options.name, "other");
}

}  // namespace
