#include "instance_figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "log/log.hpp"
#include "table.hpp"

namespace tenon::cli {

namespace {

constexpr std::size_t narrowest = 60;
constexpr std::size_t shortest_bar = 8;

/// So many eighths of a column.
std::string bar(std::size_t eighths) {
  static constexpr const char* parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + parts[eighths % 8];
}

std::string padded(std::string text, std::size_t columns) {
  text.append(columns - std::min(columns, width_of(text)), ' ');
  return text;
}

}  // namespace

void InstanceFigures::begin(bench::Window window) {
  const std::lock_guard lock(mutex_);
  window_ = window;
  instances_.clear();
}

void InstanceFigures::ended(const Instance& instance, Duration took, bool failed) {
  const std::uint64_t time = bench::now();
  const std::lock_guard lock(mutex_);
  if (time < window_.open || time >= window_.close) return;
  Figures& figures = instances_[instance.address];
  if (failed)
    ++figures.errors;
  else
    figures.latency.add(static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
}

std::vector<InstanceFigures::Share> InstanceFigures::shares() const {
  std::vector<Share> shares;
  std::uint64_t all = 0;
  const std::lock_guard lock(mutex_);
  for (const auto& [instance, figures] : instances_) {
    shares.push_back({instance, figures.latency.count(), figures.errors, figures.latency.quantile(0.99) / 1e3, 0});
    all += figures.latency.count() + figures.errors;
  }
  for (Share& share : shares)
    share.percent = all == 0 ? 0 : 100.0 * static_cast<double>(share.calls + share.errors) / static_cast<double>(all);
  return shares;
}

std::string bars_text(const std::vector<InstanceFigures::Share>& shares, std::size_t columns) {
  std::size_t name = 0;
  double most = 0;
  for (const InstanceFigures::Share& share : shares) {
    name = std::max(name, width_of(one_line(share.instance)));
    most = std::max(most, share.percent);
  }
  columns = std::max(columns, narrowest);
  name = std::min(name, columns / 3);
  std::string text;
  for (const InstanceFigures::Share& share : shares) {
    char facts[128];
    std::snprintf(facts, sizeof facts, "%5.1f %%  %9llu calls  %llu errors  p99 %.0f us", share.percent,
                  static_cast<unsigned long long>(share.calls), static_cast<unsigned long long>(share.errors),
                  share.p99_us);
    // The longest bar belongs to the largest share.
    const std::size_t taken = 2 + name + 2 + 2 + 60;
    const std::size_t room = std::max(columns - std::min(columns, taken), shortest_bar);
    const double part = most > 0 ? share.percent / most : 0;
    const auto eighths = static_cast<std::size_t>(std::lround(part * static_cast<double>(room * 8)));
    const std::string line = "  " + padded(std::string(clipped(one_line(share.instance), name)), name) + "  " +
                             padded(bar(eighths), room) + "  " + facts;
    text += std::string(clipped(line, columns)) + '\n';
  }
  return text;
}

std::string to_json(const std::vector<InstanceFigures::Share>& shares) {
  std::string json = "[";
  for (const InstanceFigures::Share& share : shares) {
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, ",\"calls\":%llu,\"errors\":%llu,\"share\":%.4f,\"p99_us\":%.3f}",
                  static_cast<unsigned long long>(share.calls), static_cast<unsigned long long>(share.errors),
                  share.percent / 100, share.p99_us);
    json += (json.size() > 1 ? ",{\"instance\":" : "{\"instance\":") + bench::quoted(share.instance) + numbers;
  }
  return json + "]";
}

}  // namespace tenon::cli
