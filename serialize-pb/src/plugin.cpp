#include "tenon/plugin.hpp"

#include "protobuf_serializer.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "serialize-pb",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Serializer, tenon::pb::ProtobufSerializer>("protobuf"); },
};
