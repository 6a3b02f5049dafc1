#include "tenon/plugin.hpp"

#include "access_log.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "filter-access-log",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Filter, tenon::access::AccessLog>("access-log"); },
};
