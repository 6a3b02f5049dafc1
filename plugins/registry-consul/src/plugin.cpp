#include "tenon/plugin.hpp"

#include "consul_registry.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "registry-consul",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Registry, tenon::consul::ConsulRegistry>("consul"); },
};
