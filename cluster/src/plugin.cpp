#include "tenon/plugin.hpp"

#include "balancer/active_weight.hpp"
#include "balancer/consistent_hash.hpp"
#include "balancer/local_first.hpp"
#include "balancer/modulo.hpp"
#include "balancer/p2c.hpp"
#include "balancer/random.hpp"
#include "balancer/round_robin.hpp"
#include "default_cluster.hpp"
#include "ha/backup_request.hpp"
#include "ha/broadcast.hpp"
#include "ha/failback.hpp"
#include "ha/failfast.hpp"
#include "ha/failover.hpp"
#include "ha/failsafe.hpp"
#include "ha/forking.hpp"
#include "routing/router.hpp"
#include "traffic/router.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "cluster",
    .version = "1.0.0",
    .install =
        [](tenon::Catalog& catalog) {
          catalog.add<tenon::Cluster, tenon::cluster::DefaultCluster>("default");
          catalog.add<tenon::Balancer, tenon::cluster::RoundRobin>("round-robin");
          catalog.add<tenon::Balancer, tenon::cluster::WeightedRoundRobin>("weighted-round-robin");
          catalog.add<tenon::Balancer, tenon::cluster::Random>("random");
          catalog.add<tenon::Balancer, tenon::cluster::WeightedRandom>("weighted-random");
          catalog.add<tenon::Balancer, tenon::cluster::ActiveWeight>("active-weight");
          catalog.add<tenon::Balancer, tenon::cluster::P2c>("p2c");
          catalog.add<tenon::Balancer, tenon::cluster::ConsistentHash>("consistent-hash");
          catalog.add<tenon::Balancer, tenon::cluster::Modulo>("modulo");
          catalog.add<tenon::Balancer, tenon::cluster::LocalFirst>("local-first");
          catalog.add<tenon::HaStrategy, tenon::cluster::Failover>("failover");
          catalog.add<tenon::HaStrategy, tenon::cluster::Failfast>("failfast");
          catalog.add<tenon::HaStrategy, tenon::cluster::Failsafe>("failsafe");
          catalog.add<tenon::HaStrategy, tenon::cluster::Failback>("failback");
          catalog.add<tenon::HaStrategy, tenon::cluster::Forking>("forking");
          catalog.add<tenon::HaStrategy, tenon::cluster::Broadcast>("broadcast");
          catalog.add<tenon::HaStrategy, tenon::cluster::BackupRequest>("backup-request");
          catalog.add<tenon::Router, tenon::cluster::traffic::TrafficRouter>("traffic");
          catalog.add<tenon::Router, tenon::cluster::routing::RulesRouter>("rules");
        },
};
