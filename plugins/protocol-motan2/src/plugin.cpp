#include "tenon/plugin.hpp"

#include "protocol.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "protocol-motan2",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Protocol, tenon::motan2::Motan2Protocol>("motan2"); },
};
