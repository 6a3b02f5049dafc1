// A server and its client in one process, without a manifest.
#include <cstdio>

#include "tenon/app.hpp"
#include "tenon/functions.hpp"

int main() {
  tenon::AppOptions options;
  options.plugins.load = {"transport-memory", "protocol-tenon", "serialize-json", "cluster"};
  options.server.listen = {{.address = "here", .protocols = {"tenon"}, .transport = "memory"}};
  options.client.references["sums"] = {
      .service = "demo.Sums", .address = "here", .transport = "memory", .serializer = "json"};

  auto service = std::make_shared<tenon::Functions>("demo.Sums");
  service->add("add", [](int a, int b) { return a + b; });

  auto app = tenon::App::create(std::move(options)).value();
  app->provide(service);
  if (auto started = app->start(); !started.ok()) return std::fprintf(stderr, "%s\n", started.error().text().c_str());

  const tenon::ClientFunction<int(int, int)> add(app->reference("sums"), "add");
  const tenon::Result<int> sum = add(40, 2);
  std::printf("40 + 2 = %s\n", sum.ok() ? std::to_string(*sum).c_str() : sum.error().text().c_str());
  return sum.ok() ? 0 : 1;
}
