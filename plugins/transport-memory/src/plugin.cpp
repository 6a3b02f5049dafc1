#include "tenon/plugin.hpp"

#include "memory_transport.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "transport-memory",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Transport, tenon::mem::MemoryTransport>("memory"); },
};
