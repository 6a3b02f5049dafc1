#pragma once
#include <string>

#include "greeter.tenon.h"
#include "tenon/catalog.hpp"

namespace demo {

/// What a manifest may set; the values here are the defaults.
struct GreeterOptions {
  std::string greeting = "Hello";
};
BOOST_DESCRIBE_STRUCT(GreeterOptions, (), (greeting))

/// Answers "GREETING, NAME, from process PID".
class GreeterService final : public Greeter::Service {
 public:
  using Options = GreeterOptions;
  static tenon::Result<std::unique_ptr<tenon::Service>> create(Options options, tenon::Environment environment);

  explicit GreeterService(Options options = {}) : options_(std::move(options)) {}

  tenon::Task<tenon::Result<HelloReply>> SayHello(const HelloRequest& request, const tenon::CallInfo& info) override;
  tenon::Task<tenon::Result<void>> SayHelloTimes(const HelloTimesRequest& request,
                                                 tenon::StreamWriter<HelloReply>& out,
                                                 const tenon::CallInfo& info) override;

 private:
  const Options options_;
};

}  // namespace demo

template <>
struct tenon::Describe<demo::GreeterOptions> {
  static constexpr auto members = tenon::members(tenon::member("greeting", 1, "the first word of every answer"));
};
