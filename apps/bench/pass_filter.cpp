// Filter "pass": hands calls on. What a layer costs is what bench-gate measures with it.
#include "tenon/catalog.hpp"
#include "tenon/filter.hpp"
#include "tenon/plugin.hpp"

namespace bench {
namespace {

class PassFilter final : public tenon::Filter {
 public:
  using Options = tenon::NoOptions;
  static tenon::Result<std::unique_ptr<PassFilter>> create(Options, tenon::Environment) {
    return std::make_unique<PassFilter>();
  }
  tenon::Task<tenon::Result<tenon::Response>> apply(tenon::Request& request, tenon::Invoker& next) override {
    return next.call(request);
  }
};

}  // namespace
}  // namespace bench

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "bench-pass",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Filter, bench::PassFilter>("pass"); },
};
