#include "tenon/plugin.hpp"

#include "simple_serializer.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "serialize-simple",
    .version = "1.0.0",
    .install = [](tenon::Catalog& c) { c.add<tenon::Serializer, tenon::simple::SimpleSerializer>("simple"); },
};
