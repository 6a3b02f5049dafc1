// Skeletons and stubs made from odd .proto files: names, tables, dispatch, descriptors.
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "inner/only_messages.tenon.h"
#include "names.tenon.h"
#include "no_package.tenon.h"

namespace {

using odd::v1::Keywords;
using odd::v1::Outer_Answer;
using odd::v1::Outer_Ask;

std::vector<std::string> names(const tenon::Service& service) {
  std::vector<std::string> all;
  for (const tenon::Method& method : service.methods()) all.emplace_back(method.name);
  return all;
}

// Calls method `index` of `service` as a server does, on this thread.
tenon::Result<tenon::Response> call(tenon::Service& service, std::uint32_t index, const google::protobuf::Message& in) {
  const tenon::ServiceName name{std::string(service.interface()), "", ""};
  tenon::Target target;
  target.service = &name;
  target.method = index < service.methods().size() ? &service.methods()[index] : nullptr;
  target.index = index;
  tenon::CallInfo info;
  info.target = &target;
  info.attempt = 3;
  tenon::Request request(target);
  request.info = &info;
  if (target.method) request.payload = tenon::Payload::borrow(*target.method->input, &in);
  const tenon::Task<tenon::Result<tenon::Response>> task = service.call(request);
  EXPECT_TRUE(task.start([](void*) {}, nullptr));
  return task.take();
}

template <class Out>
const Out& value(const tenon::Result<tenon::Response>& response) {
  return *static_cast<const Out*>(response->payload.value());
}

class KeywordsService final : public Keywords::Service {
 public:
  tenon::Task<tenon::Result<Outer_Answer>> delete__(const Outer_Ask& request, const tenon::CallInfo& info) override {
    Outer_Answer answer;
    answer.set_text("deleted " + request.who() + " at attempt " + std::to_string(info.attempt));
    co_return answer;
  }
  tenon::Task<tenon::Result<void>> requestInto(const Outer_Ask& request, Outer_Answer& reply,
                                               const tenon::CallInfo&) override {
    reply.set_text(request.has_who() ? "who" : "nobody");
    co_return tenon::Result<void>();
  }
  tenon::Task<tenon::Result<Outer_Answer>> info(const Outer_Ask&, const tenon::CallInfo&) override {
    co_return tenon::Error(tenon::Errc::permission_denied, "not for you");
  }
};

TEST(Generated, WireNamesAreTheProtosAndIdempotencyIsTold) {
  const KeywordsService service;
  EXPECT_EQ(service.interface(), "odd.v1.Keywords");
  EXPECT_EQ(names(service), (std::vector<std::string>{"delete", "delete_", "call", "interface", "methods", "Service",
                                                      "Client", "request", "reply", "info", "reference", "co_await",
                                                      "tenon", "std", "Keywords", "Look", "LookInto"}));
  for (std::size_t i = 0; i < service.methods().size(); ++i) {
    const tenon::Method& method = service.methods()[i];
    EXPECT_EQ(method.idempotent, i < 2) << method.name;
    EXPECT_EQ(method.shape, tenon::Shape::unary);
    EXPECT_EQ(method.input->name(), "odd.v1.Outer.Ask");
    EXPECT_EQ(method.output->name(), "odd.v1.Outer.Answer");
  }
}

TEST(Generated, CallReachesTheOverriddenForm) {
  KeywordsService service;
  Outer_Ask ask;
  ask.set_who("Ada");
  const auto deleted = call(service, 0, ask);
  ASSERT_TRUE(deleted.ok()) << deleted.error().text();
  EXPECT_EQ(value<Outer_Answer>(deleted).text(), "deleted Ada at attempt 3");
  const auto filled = call(service, 7, Outer_Ask());
  ASSERT_TRUE(filled.ok()) << filled.error().text();
  EXPECT_EQ(value<Outer_Answer>(filled).text(), "nobody");
  const auto refused = call(service, 9, ask);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), tenon::Errc::permission_denied);
}

TEST(Generated, WhatIsNotOverriddenIsUnimplemented) {
  KeywordsService service;
  for (const std::uint32_t index : {1u, 2u, 16u}) {
    const auto answer = call(service, index, Outer_Ask());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code(), tenon::Errc::unimplemented);
    const std::string name = "odd.v1.Keywords." + std::string(service.methods()[index].name);
    EXPECT_EQ(answer.error().text().find(name), 0u) << answer.error().text();
  }
  const auto task = service.LookInto(Outer_Ask(), tenon::CallInfo());
  ASSERT_TRUE(task.start([](void*) {}, nullptr));
  EXPECT_EQ(task.take().error().delivery(), tenon::Delivery::not_run);
}

TEST(Generated, UnknownIndexIsNotFound) {
  KeywordsService service;
  const auto answer = call(service, 17, Outer_Ask());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), tenon::Errc::not_found);
  odd::v1::Nothing::Service nothing;
  EXPECT_TRUE(nothing.methods().empty());
  EXPECT_EQ(call(nothing, 0, Outer_Ask()).error().code(), tenon::Errc::not_found);
}

TEST(Generated, ForeignAndWellKnownMessages) {
  const odd::v1::Service_::Service service;
  EXPECT_EQ(service.interface(), "odd.v1.Service");
  ASSERT_EQ(service.methods().size(), 3u);
  EXPECT_EQ(service.methods()[0].input->name(), "other.Shared.Inner");
  EXPECT_EQ(service.methods()[0].output->name(), "other.Shared");
  EXPECT_EQ(service.methods()[1].input->name(), "google.protobuf.Empty");
  EXPECT_EQ(service.methods()[1].output->name(), "google.protobuf.Timestamp");
  odd::v1::Plain plain;
  EXPECT_FALSE(plain.has_number());
}

class Doubling final : public NoPackage::Service {
  tenon::Task<tenon::Result<void>> TwiceInto(const Bare& request, Bare& reply, const tenon::CallInfo&) override {
    reply.set_number(2 * request.number());
    co_return tenon::Result<void>();
  }
};

TEST(Generated, NoPackage) {
  Doubling service;
  EXPECT_EQ(service.interface(), "NoPackage");
  Bare bare;
  bare.set_number(21);
  const auto answer = call(service, 0, bare);
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(value<Bare>(answer).number(), 42);
}

// Builds in an empty pool, so every import is there and stands before its importer.
TEST(Generated, FileDescriptorSetIsComplete) {
  const odd::v1::Service_::Service service;
  std::vector<std::string_view> seen(8);
  std::vector<std::thread> threads;
  for (std::string_view& set : seen) threads.emplace_back([&] { set = service.file_descriptor_set(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string_view set : seen) EXPECT_EQ(set.data(), seen[0].data());

  google::protobuf::FileDescriptorSet files;
  ASSERT_TRUE(files.ParseFromArray(seen[0].data(), static_cast<int>(seen[0].size())));
  EXPECT_EQ(files.file_size(), 5);
  google::protobuf::DescriptorPool pool;
  for (const auto& file : files.file()) ASSERT_NE(pool.BuildFile(file), nullptr) << file.name();
  const auto* found = pool.FindServiceByName("odd.v1.Service");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->method(0)->input_type()->full_name(), "other.Shared.Inner");
  EXPECT_NE(pool.FindServiceByName("odd.v1.Keywords"), nullptr);
}

/// Remembers what was bound, and refuses.
class Refusing final : public tenon::Reference {
 public:
  const tenon::ServiceName& service() const noexcept override { return name_; }
  tenon::Result<const tenon::Target*> bind(const tenon::Method& method) override {
    bound.emplace_back(method.name);
    return tenon::Error(tenon::Errc::config, "nobody is here");
  }
  tenon::Executor& executor() noexcept override { std::abort(); }
  tenon::Invoker& invoker() noexcept override { std::abort(); }
  tenon::Result<void> run(const tenon::Startable&) override { std::abort(); }
  std::vector<std::string> bound;

 private:
  const tenon::ServiceName name_{"odd.v1.Keywords", "", ""};
};

TEST(Generated, ClientBindsEveryMethodByItsWireName) {
  const auto reference = std::make_shared<Refusing>();
  const Keywords::Client client(reference);
  EXPECT_EQ(reference->bound, names(KeywordsService()));
  const Outer_Ask ask;
  const tenon::Result<Outer_Answer> answer = client.delete__(ask);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().text(), "nobody is here");
  EXPECT_FALSE(client.co_await_(ask).ok());
  EXPECT_FALSE(client.Service_(ask).ok());
  EXPECT_FALSE(client.LookInto(ask).ok());
  const odd::v1::Nothing::Client nothing(reference);
  EXPECT_EQ(reference->bound.size(), 17u);
}

}  // namespace
