#include "tenon/plugin.hpp"

#include "default_cluster.hpp"
#include "failfast.hpp"
#include "failover.hpp"
#include "round_robin.hpp"
#include "traffic/router.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "cluster",
    .version = "1.0.0",
    .install =
        [](tenon::Catalog& catalog) {
          catalog.add<tenon::Cluster, tenon::cluster::DefaultCluster>("default");
          catalog.add<tenon::Balancer, tenon::cluster::RoundRobin>("round-robin");
          catalog.add<tenon::HaStrategy, tenon::cluster::Failover>("failover");
          catalog.add<tenon::HaStrategy, tenon::cluster::Failfast>("failfast");
          catalog.add<tenon::Router, tenon::cluster::traffic::TrafficRouter>("traffic");
        },
};
