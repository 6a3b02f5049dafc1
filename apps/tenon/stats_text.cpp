#include "stats_text.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "log/log.hpp"
#include "table.hpp"
#include "tenon/type.hpp"

namespace tenon::cli {

namespace {

template <class E>
std::string name_of(E value) {
  const Enumerator* found = type_of<E>().enumeration->find(static_cast<std::int32_t>(value));
  return found ? std::string(found->name) : std::to_string(static_cast<int>(value));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string section(const std::string& heading, const Table& table, std::size_t columns = std::string::npos) {
  return heading + '\n' + (table.empty() ? "  none\n" : table.text(columns));
}

constexpr std::size_t widest = 160;

/// "40 of 100": what it gets of its weight.
std::string weight(const admin::EndpointState& endpoint) {
  const std::string full = std::to_string(endpoint.weight);
  if (endpoint.health == admin::EndpointHealth::leaving || endpoint.effective_weight == endpoint.weight) return full;
  char part[32];
  std::snprintf(part, sizeof part, "%.3g", endpoint.effective_weight);
  return std::string(part) + " of " + full;
}

std::string health(const admin::EndpointState& endpoint) {
  if (!endpoint.ejected) return name_of(endpoint.health);
  return endpoint.ejected_for.count() > 0 ? "EJECTED " + human_time(endpoint.ejected_for) : "EJECTED, to try";
}

/// "12 (3)": so many, the last ones in a row.
std::string faults(const admin::EndpointState& endpoint) {
  const std::string all = std::to_string(endpoint.faults);
  return endpoint.consecutive_faults == 0 ? all : all + " (" + std::to_string(endpoint.consecutive_faults) + ')';
}

/// One line for each reference that counts something.
std::string counts(const std::vector<admin::ReferenceState>& references) {
  std::string text;
  for (const admin::ReferenceState& reference : references) {
    if (reference.counts.empty()) continue;
    std::string line = "  " + one_line(reference.name) + ": ";
    const char* separator = "";
    for (const Count& count : reference.counts)
      line += std::exchange(separator, ", ") + one_line(count.name) + ' ' + std::to_string(count.value);
    text += line + '\n';
  }
  return text;
}

std::string latency(const admin::EndpointState& endpoint) {
  if (endpoint.calls == endpoint.errors) return "-";
  char text[32];
  if (endpoint.latency_us < 1000)
    std::snprintf(text, sizeof text, "%.0fus", endpoint.latency_us);
  else
    std::snprintf(text, sizeof text, "%.1fms", endpoint.latency_us / 1000);
  return text;
}

// The same endpoint some time ago; null: it was not known then.
const admin::EndpointState* earlier(const std::vector<admin::ReferenceState>* before, const std::string& reference,
                                    const admin::EndpointState& endpoint) {
  if (!before) return nullptr;
  for (const admin::ReferenceState& other : *before) {
    if (other.name != reference) continue;
    for (const admin::EndpointState& candidate : other.endpoints)
      if (candidate.id == endpoint.id && candidate.address == endpoint.address && candidate.calls <= endpoint.calls)
        return &candidate;
  }
  return nullptr;
}

std::string rate(const admin::EndpointState* then, const admin::EndpointState& now, double seconds) {
  if (!then || seconds <= 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(now.calls - then->calls) / seconds);
  return text;
}

}  // namespace

std::string state_text(const admin::AppState& state) {
  std::string text = one_line(state.application.empty() ? "(no name)" : state.application) + "  " +
                     name_of(state.phase) + "  pid " + std::to_string(state.pid) + "  up " + human_time(state.up) +
                     "  io threads " + std::to_string(state.io_threads) + '\n';
  text += "calls being served " + std::to_string(state.server_calls) + "  calls made " +
          std::to_string(state.client_calls) + "  orphans " + std::to_string(state.client_orphans) +
          "  connections accepted " + std::to_string(state.server_connections) + '\n';
  if (state.silent.empty()) return text;
  text += "no answer from io thread";
  for (const std::uint32_t io_thread : state.silent) text += ' ' + std::to_string(io_thread);
  return text + ": a handler blocks it? What it knows is missing here\n";
}

std::string listeners_text(const std::vector<admin::ListenerState>& listeners) {
  Table table({"ADDRESS", "TRANSPORT", "PROTOCOLS"});
  for (const admin::ListenerState& listener : listeners)
    table.row({listener.address, listener.transport, joined(listener.protocols)});
  return section("LISTENERS", table);
}

std::string pools_text(const std::vector<admin::PoolState>& pools) {
  Table table({"NAME", ">THREADS", ">BUSY", ">RUNNING", ">QUEUED", ">OF", ">REJECTED", ">EXPIRED"});
  for (const admin::PoolState& pool : pools)
    table.row({pool.name, std::to_string(pool.threads), std::to_string(pool.busy), std::to_string(pool.running),
               std::to_string(pool.queued), std::to_string(pool.queue), std::to_string(pool.rejected),
               std::to_string(pool.expired)});
  return section("POOLS", table);
}

std::string references_text(const std::vector<admin::ReferenceState>& references,
                            const std::vector<admin::ReferenceState>* before, double seconds) {
  Table table({"NAME", "SERVICE", "INSTANCE", "HEALTH", ">WEIGHT", ">CONN", ">IN FLIGHT", ">CALLS", ">CALLS/S",
               ">ERRORS", ">FAULTS", ">LATENCY", "WHY NOT CONNECTED"});
  for (const admin::ReferenceState& reference : references) {
    if (reference.endpoints.empty())
      table.row({reference.name, reference.service, "(none)", "", "", "", "0", "", "", "", "", "", ""});
    for (const admin::EndpointState& endpoint : reference.endpoints)
      table.row({reference.name, reference.service, endpoint.address, health(endpoint), weight(endpoint),
                 std::to_string(endpoint.connections), std::to_string(endpoint.in_flight),
                 std::to_string(endpoint.calls), rate(earlier(before, reference.name, endpoint), endpoint, seconds),
                 std::to_string(endpoint.errors), faults(endpoint), latency(endpoint), endpoint.failure});
  }
  return section("REFERENCES", table, widest) + counts(references);
}

std::string connections_text(const admin::ConnectionList& connections) {
  Table table({"PEER", "PROTOCOL", "OPENED BY", ">AGE", ">IN FLIGHT", ">UNWRITTEN", ">IO THREAD", "IDENTITY"});
  for (const admin::ConnectionState& connection : connections.shown)
    table.row({connection.peer, connection.protocol,
               connection.reference.empty() ? "peer" : "reference " + connection.reference, human_time(connection.age),
               std::to_string(connection.in_flight), human_size(connection.unwritten),
               std::to_string(connection.io_thread), connection.identity});
  std::string heading = "CONNECTIONS " + std::to_string(connections.total);
  if (connections.shown.size() < connections.total)
    heading += " (the busiest " + std::to_string(connections.shown.size()) + ')';
  return section(heading, table);
}

std::string plugins_text(const std::vector<admin::LoadedPlugin>& plugins) {
  Table table({"NAME", "VERSION", "OFFERS", "FILE"});
  for (const admin::LoadedPlugin& plugin : plugins)
    table.row({plugin.name, plugin.version, joined(plugin.entries), plugin.origin});
  return section("PLUGINS", table);
}

std::string config_text(const std::vector<admin::ConfigValue>& values) {
  constexpr std::size_t longest_aligned = 100;
  std::vector<std::string> lines;
  std::size_t width = 0;
  for (const admin::ConfigValue& value : values) {
    lines.push_back(one_line(value.path + " = " + value.value, 4096 + 256));
    if (width_of(lines.back()) <= longest_aligned) width = std::max(width, width_of(lines.back()));
  }
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t padding = width - std::min(width, width_of(lines[i])) + 3;
    text += lines[i] + std::string(padding, ' ') + one_line(values[i].origin) + '\n';
  }
  return text;
}

}  // namespace tenon::cli
