// A service whose calls last as long as one likes, for watching them: test.Slow/nap(milliseconds).

#include <span>

#include "tenon/plugin.hpp"
#include "tenon/scope.hpp"
#include "tenon/serve.hpp"

namespace {

using In = tenon::Arguments<std::int64_t>;
using Out = tenon::Bare<std::int64_t>;

class Slow final : public tenon::Service {
 public:
  using Options = tenon::NoOptions;
  static tenon::Result<std::unique_ptr<tenon::Service>> create(Options, tenon::Environment) {
    return std::unique_ptr<tenon::Service>(std::make_unique<Slow>());
  }
  std::string_view interface() const noexcept override { return "test.Slow"; }
  std::span<const tenon::Method> methods() const noexcept override { return {&method_, 1}; }
  tenon::Task<tenon::Result<tenon::Response>> call(tenon::Request& request) override {
    const tenon::CallInfo& info = *request.info;
    auto handler = [&info](const In& in, Out& out) { return nap(std::get<0>(in.values), out, info); };
    return tenon::serve<In, Out>(request, handler);
  }

 private:
  static tenon::Task<tenon::Result<void>> nap(std::int64_t ms, Out& out, const tenon::CallInfo& info) {
    tenon::Clock& clock = info.executor->clock();
    tenon::sleep_until pause(clock, clock.now() + std::chrono::milliseconds(ms), info.cancel);
    const bool whole = co_await pause;
    if (!whole) co_return tenon::Error(tenon::Errc::cancelled, "the caller gave up");
    out.value = ms;
    co_return tenon::Result<void>();
  }
  const tenon::Method method_{"nap", tenon::Shape::unary, &tenon::message_type<In>(), &tenon::message_type<Out>(),
                              true};
};

}  // namespace

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "test-slow",
    .version = "1.2.3",
    .install = [](tenon::Catalog& c) { c.add<tenon::Service, Slow>("test.Slow"); },
};
