#include "tenon/plugin.hpp"

#include "msgpack_serializer.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "serialize-msgpack",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Serializer, tenon::msgpack::MsgpackSerializer>("msgpack"); },
};
