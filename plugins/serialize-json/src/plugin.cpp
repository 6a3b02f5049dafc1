#include "tenon/plugin.hpp"

#include "json_serializer.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "serialize-json",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Serializer, tenon::json::JsonSerializer>("json"); },
};
