// bench.Echo as a plugin: `tenon serve --load bench-echo` runs it.

#include <cstdint>
#include <limits>

#include "echo.tenon.h"
#include "tenon/plugin.hpp"

namespace bench {
namespace {

/// The forms that fill a reply object of the framework's, so that a warm call allocates nothing.
class EchoService final : public Echo::Service {
 public:
  using Options = tenon::NoOptions;
  static tenon::Result<std::unique_ptr<tenon::Service>> create(Options, tenon::Environment) {
    return std::unique_ptr<tenon::Service>(std::make_unique<EchoService>());
  }

  tenon::Task<tenon::Result<void>> EchoInto(const EchoRequest& request, EchoResponse& response,
                                            const tenon::CallInfo&) override {
    response.set_payload(request.payload());
    co_return tenon::Result<void>();
  }

  tenon::Task<tenon::Result<void>> Pour(const EchoRequest& request, tenon::StreamWriter<EchoResponse>& out,
                                        const tenon::CallInfo&) override {
    EchoResponse response;
    response.set_payload(request.payload());
    while (true) {
      tenon::Result<void> sent = co_await out.send(response);
      if (!sent.ok()) co_return sent;
    }
  }

  tenon::Task<tenon::Result<void>> AddInto(const Number& request, Number& response, const tenon::CallInfo&) override {
    if (request.value() == std::numeric_limits<std::int64_t>::max())
      co_return tenon::Error(tenon::Errc::invalid_argument, "bench.Echo/Add: the sum does not fit an int64",
                             tenon::Delivery::ran);
    response.set_value(request.value() + 1);
    co_return tenon::Result<void>();
  }
};

}  // namespace
}  // namespace bench

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "bench-echo",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Service, bench::EchoService>("bench.Echo"); },
};
