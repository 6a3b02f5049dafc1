#include "tenon/plugin.hpp"

#include "memory_registry.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "registry-memory",
    .version = "1.0.0",
    .install =
        [](tenon::Catalog& catalog) { catalog.add<tenon::Registry, tenon::inprocess::MemoryRegistry>("memory"); },
};
