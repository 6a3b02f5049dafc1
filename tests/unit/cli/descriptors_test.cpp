#include "server/descriptors.hpp"

#include <gtest/gtest.h>

#include "tenon/functions.hpp"
#include "tenon/schema.hpp"

namespace tenon {
namespace {

// Calls method `name` of `service` in this thread, as a dispatcher would.
template <class Out, class... A>
Result<Out> call(Service& service, std::string_view name, const A&... arguments) {
  const ServiceName service_name{std::string(service.interface()), "", ""};
  for (std::uint32_t i = 0; i < service.methods().size(); ++i) {
    const Method& method = service.methods()[i];
    if (method.name != name) continue;
    const Target target{&service_name, &method, i};
    const Arguments<A...> in{{arguments...}};
    Request request(target);
    request.payload = Payload::borrow(message_type<Arguments<A...>>(), &in);
    Task<Result<Response>> task = service.call(request);
    if (!task.start([](void*) {}, nullptr)) return Error(Errc::internal, "it did not end at once");
    Result<Response> response = task.take();
    if (!response.ok()) return std::move(response).error();
    Bare<Out> out;
    if (auto taken = response->payload.take_into(message_type<Bare<Out>>(), &out); !taken.ok())
      return std::move(taken).error();
    return std::move(out.value);
  }
  return Error(Errc::not_found, "no method " + std::string(name));
}

class Descriptors : public testing::Test {
 protected:
  Descriptors() {
    auto users = std::make_shared<Functions>("user.UserService");
    users->add("deleteUser", [](std::int64_t uid) { return uid > 0; });
    service_ = make_descriptors({users});
  }
  std::shared_ptr<Service> service_;
};

TEST_F(Descriptors, ListsEveryInterface) {
  const auto names = call<std::vector<std::string>>(*service_, "services");
  ASSERT_TRUE(names.ok()) << names.error().text();
  EXPECT_EQ(*names, (std::vector<std::string>{"tenon.Descriptors", "user.UserService"}));
}

TEST_F(Descriptors, DescribesMethodsAndTypes) {
  const auto schema = call<SchemaService>(*service_, "describe", std::string("user.UserService"));
  ASSERT_TRUE(schema.ok()) << schema.error().text();
  EXPECT_EQ(schema->name, "user.UserService");
  ASSERT_EQ(schema->methods.size(), 1u);
  EXPECT_EQ(schema->methods[0].name, "deleteUser");
  EXPECT_TRUE(DynamicTypes::create(schema->types).ok());
}

TEST_F(Descriptors, DescribesItself) {
  const auto schema = call<SchemaService>(*service_, "describe", std::string("tenon.Descriptors"));
  ASSERT_TRUE(schema.ok()) << schema.error().text();
  EXPECT_EQ(schema->methods.size(), 2u);
}

TEST_F(Descriptors, UnknownInterfaceNamesWhatThereIs) {
  const auto schema = call<SchemaService>(*service_, "describe", std::string("user.Users"));
  ASSERT_FALSE(schema.ok());
  EXPECT_EQ(schema.error().code(), Errc::not_found);
  EXPECT_EQ(schema.error().text(),
            "tenon.Descriptors: no service \"user.Users\" is offered here; there are: "
            "tenon.Descriptors, user.UserService");
}

}  // namespace
}  // namespace tenon
