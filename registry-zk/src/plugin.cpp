#include "tenon/plugin.hpp"

#include "zk_registry.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "registry-zk",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Registry, tenon::zk::ZkRegistry>("zookeeper"); },
};
