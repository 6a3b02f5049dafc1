#pragma once
// Aligned columns for people.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/clock.hpp"

namespace tenon::cli {

/// Rows under headings. A heading that begins with '>' makes its column flush right. Cells come from other processes,
/// so control bytes in them are escaped.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  /// REQUIRES: as many cells as headings.
  void row(std::vector<std::string> cells);
  bool empty() const noexcept { return rows_.empty(); }
  /// Every line indented by two, ended by a newline; what is longer than `columns` ends in "…".
  std::string text(std::size_t columns = std::string::npos) const;

 private:
  std::vector<std::string> headings_;
  std::vector<bool> flush_right_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns a text takes on a terminal: its code points.
std::size_t width_of(std::string_view text) noexcept;
/// At most so many columns of it.
std::string_view clipped(std::string_view text, std::size_t columns) noexcept;

/// "512 B", "4.0 KiB", "1.5 MiB".
std::string human_size(std::uint64_t bytes);
/// "850ms", "12.3s", "4m12s", "3h05m", "2d07h".
std::string human_time(Duration time);

}  // namespace tenon::cli
