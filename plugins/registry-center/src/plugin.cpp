#include "tenon/plugin.hpp"

#include "center/center.hpp"
#include "client/center_registry.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "registry-center",
    .version = "1.0.0",
    .install =
        [](tenon::Catalog& catalog) {
          catalog.add<tenon::Service, tenon::center::Center>("tenon.Center");
          catalog.add<tenon::Registry, tenon::center::CenterRegistry>("center");
        },
};
