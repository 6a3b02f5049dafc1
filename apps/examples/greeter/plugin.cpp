// demo.Greeter for the stock host: `tenon serve --manifest host.yaml`.
#include "tenon/plugin.hpp"

#include "greeter_service.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "service-greeter",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Service, demo::GreeterService>("demo.Greeter"); },
};
