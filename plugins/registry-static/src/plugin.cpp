#include "static_registry.hpp"
#include "tenon/plugin.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "registry-static",
    .version = "0.1.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Registry, tenon::fixed::StaticRegistry>("static"); },
};
