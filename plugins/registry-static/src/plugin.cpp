#include "tenon/plugin.hpp"

#include "static_registry.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "registry-static",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Registry, tenon::fixed::StaticRegistry>("static"); },
};
