// A server and its client in one process, without a manifest.
#include <cstdio>

#include "tenon/app.hpp"
#include "tenon/functions.hpp"

int fail(const tenon::Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return 1;
}

int main() {
  tenon::AppOptions options;
  options.plugins.load = {"transport-memory", "protocol-tenon", "serialize-json", "cluster"};
  options.server.listen = {{.address = "here", .protocols = {"tenon"}, .transport = "memory"}};
  options.client.references["sums"] = {.service = "demo.Sums",
                                       .address = "here",
                                       .transport = "memory",
                                       .serializer = "json"};
  auto app = tenon::App::create(std::move(options));
  if (!app.ok()) return fail(app.error());

  auto sums = std::make_shared<tenon::Functions>("demo.Sums");
  sums->add("add", [](int a, int b) { return a + b; });
  (*app)->provide(sums);
  if (auto started = (*app)->start(); !started.ok()) return fail(started.error());

  const tenon::ClientFunction<int(int, int)> add((*app)->reference("sums"), "add");
  const tenon::Result<int> sum = add(40, 2);
  if (!sum.ok()) return fail(sum.error());
  std::printf("40 + 2 = %d\n", *sum);
}
