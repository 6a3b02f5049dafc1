#include "tenon/plugin.hpp"

#include "protocol.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "protocol-http",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Protocol, tenon::http::HttpProtocol>("http"); },
};
