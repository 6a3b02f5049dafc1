#include "figures.hpp"

#include <cstdio>

namespace bench {

namespace {

void member(std::string& json, const char* name, double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, ",\"%s\":%.*f", name, decimals, value);
  json += text;
}

void member(std::string& json, const char* name, std::uint64_t value) {
  json += std::string(",\"") + name + "\":" + std::to_string(value);
}

}  // namespace

std::string Workload::text() const {
  std::string text = "echo " + std::to_string(size) + " B x " + std::to_string(outstanding) + ", " + mode;
  if (providers > 1) text += ", " + std::to_string(providers) + " providers";
  return text;
}

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      json += escape;
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string to_json(const Figures& figures) {
  const Workload& workload = figures.workload;
  const Histogram& latency = figures.latency;
  std::string json = "{\"workload\":" + quoted(workload.text()) + ",\"peer\":" + quoted(workload.peer) +
                     ",\"mode\":" + quoted(workload.mode);
  member(json, "size", std::uint64_t{workload.size});
  member(json, "concurrency", std::uint64_t{workload.outstanding});
  member(json, "connections", std::uint64_t{workload.connections});
  member(json, "providers", std::uint64_t{workload.providers});
  member(json, "calls", latency.count());
  member(json, "errors", figures.errors);
  member(json, "seconds", figures.seconds, 3);
  member(json, "qps", figures.calls_per_second(), 1);
  member(json, "mb_s", figures.calls_per_second() * workload.size / 1e6, 3);
  member(json, "mean_us", latency.mean() / 1e3, 3);
  member(json, "p50_us", latency.quantile(0.5) / 1e3, 3);
  member(json, "p90_us", latency.quantile(0.9) / 1e3, 3);
  member(json, "p99_us", latency.quantile(0.99) / 1e3, 3);
  member(json, "p999_us", latency.quantile(0.999) / 1e3, 3);
  member(json, "max_us", static_cast<double>(latency.max()) / 1e3, 3);
  return json + "}";
}

std::string to_json(const std::vector<Figures>& results) {
  std::string json = "{\"results\":[";
  for (const Figures& figures : results) {
    if (json.back() == '}') json += ",\n";
    json += to_json(figures);
  }
  return json + "]}";
}

}  // namespace bench
