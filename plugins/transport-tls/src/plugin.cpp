#include "tenon/plugin.hpp"

#include "tls_transport.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "transport-tls",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Transport, tenon::tls::TlsTransport>("tls"); },
};
