// A filter that answers with what somebody else answers: what a proxy is.

#include "tenon/filter.hpp"
#include "tenon/plugin.hpp"
#include "tenon/use.hpp"

namespace tenon::test {
namespace {

struct ForwardOptions {
  Use<Invoker> to;
};
BOOST_DESCRIBE_STRUCT(ForwardOptions, (), (to))

class Forward final : public Filter {
 public:
  using Options = ForwardOptions;
  static Result<std::unique_ptr<Forward>> create(Options options, Environment) {
    if (!options.to) return Error(Errc::config, "filter forward needs `to`, a reference's name");
    return std::make_unique<Forward>(std::move(options));
  }
  explicit Forward(ForwardOptions options) : options_(std::move(options)) {}

  Task<Result<Response>> apply(Request& request, Invoker&) override { return forward(request); }

 private:
  // No `reply` is given, so that the answer's bytes stay as they are.
  Task<Result<Response>> forward(Request& request) {
    if (request.payload.has_value())
      co_return Error(Errc::internal, "the payload was decoded before it came here", Delivery::not_run);
    Request onward(*request.target);
    onward.payload = std::move(request.payload);
    onward.headers = request.headers;
    onward.headers.set("via", "forward");
    onward.deadline = request.deadline;
    onward.cancel = request.cancel;
    onward.info = request.info;
    Result<Response> answer = co_await options_.to->call(onward);
    if (answer.ok() && answer->payload.has_value())
      co_return Error(Errc::internal, "the answer was decoded before it came here", Delivery::ran);
    co_return std::move(answer);
  }
  ForwardOptions options_;
};

}  // namespace
}  // namespace tenon::test

template <>
struct tenon::Describe<tenon::test::ForwardOptions> {
  static constexpr auto members = tenon::members(tenon::member("to", "the reference that answers"));
};

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "filter-forward",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Filter, tenon::test::Forward>("forward"); },
};
