#include "tenon/plugin.hpp"

#include "tcp_transport.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "transport-tcp",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Transport, tenon::tcp::TcpTransport>("tcp"); },
};
