#include "table.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "log/log.hpp"

namespace tenon::cli {

namespace {

constexpr std::size_t longest_cell = 200;

bool starts_code_point(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::string formatted(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {
  for (std::string& heading : headings_) {
    flush_right_.push_back(heading.starts_with('>'));
    if (flush_right_.back()) heading.erase(0, 1);
  }
}

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = one_line(cell, longest_cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t columns) const {
  std::vector<std::size_t> widths(headings_.size());
  const auto widen = [&widths](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));
  };
  widen(headings_);
  for (const auto& cells : rows_) widen(cells);
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string made = "  ";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string padding(widths[i] - width_of(cells[i]), ' ');
      made += flush_right_[i] ? padding + cells[i] : cells[i] + padding;
      made += "  ";
    }
    made.erase(made.find_last_not_of(' ') + 1);
    if (width_of(made) > columns) made = std::string(clipped(made, columns - 1)) + "…";
    text += made + '\n';
  };
  line(headings_);
  for (const auto& cells : rows_) line(cells);
  return text;
}

std::size_t width_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string_view clipped(std::string_view text, std::size_t columns) noexcept {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (starts_code_point(text[at]) && columns-- == 0) break;
  return text.substr(0, at);
}

std::string human_size(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  constexpr const char* units[] = {"%.1f KiB", "%.1f MiB", "%.1f GiB", "%.1f TiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return formatted(units[unit], value);
}

std::string human_time(Duration time) {
  using std::chrono::duration_cast;
  const auto ms = duration_cast<std::chrono::milliseconds>(time).count();
  if (ms < 1000) return std::to_string(ms) + "ms";
  if (ms < 60'000) return formatted("%.1fs", static_cast<double>(ms / 100) / 10);
  const auto seconds = ms / 1000;
  char text[32];
  if (seconds < 3600)
    std::snprintf(text, sizeof text, "%lldm%02llds", static_cast<long long>(seconds / 60),
                  static_cast<long long>(seconds % 60));
  else if (seconds < 86'400)
    std::snprintf(text, sizeof text, "%lldh%02lldm", static_cast<long long>(seconds / 3600),
                  static_cast<long long>(seconds / 60 % 60));
  else
    std::snprintf(text, sizeof text, "%lldd%02lldh", static_cast<long long>(seconds / 86'400),
                  static_cast<long long>(seconds / 3600 % 24));
  return text;
}

}  // namespace tenon::cli
