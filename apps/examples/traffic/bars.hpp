#pragma once
// Bars for people: drawn in place on a terminal, printed one block below the other elsewhere.

#include <cstddef>
#include <string>
#include <vector>

/// One line of a block.
struct Bar {
  std::string name;
  double share = 0;  ///< 0 to 1
  std::string note;
};

/// Standard output. Bars are made of Unicode's blocks where the locale is UTF-8, else of '#'. At most 80 columns.
/// Threads: one.
class Bars {
 public:
  Bars();
  /// A block in place of the one before, or below it.
  void draw(const std::string& heading, const std::vector<Bar>& bars);
  /// A line that stays: on a terminal it goes above the block.
  void say(const std::string& line);

 private:
  std::string text_of(const Bar& bar) const;
  void show(const std::string& above, std::size_t erased) const;

  const bool terminal_;
  const bool unicode_;
  std::vector<std::string> block_;  // the last one
};
