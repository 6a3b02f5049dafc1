#pragma once
// The only place where core names concrete plugins: what an empty Component means.

namespace tenon::defaults {

inline constexpr const char* transport = "tcp";
inline constexpr const char* protocol = "tenon";
inline constexpr const char* serializer = "protobuf";
inline constexpr const char* cluster = "default";
inline constexpr const char* balancer = "round-robin";
inline constexpr const char* ha = "failover";

}  // namespace tenon::defaults
