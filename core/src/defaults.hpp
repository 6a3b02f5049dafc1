#pragma once
// The only place where core names concrete plugins: what an empty Component means, and one thing it cannot ask them.

namespace tenon::defaults {

inline constexpr const char* transport = "tcp";
inline constexpr const char* protocol = "tenon";
inline constexpr const char* serializer = "protobuf";
inline constexpr const char* cluster = "default";
inline constexpr const char* balancer = "weighted-round-robin";
inline constexpr const char* ha = "failover";

/// Whoever reads this registry is in the same process: a loopback address is as good as any there.
inline constexpr const char* in_process_registry = "memory";

}  // namespace tenon::defaults
