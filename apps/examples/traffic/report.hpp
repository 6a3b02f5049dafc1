#pragma once
// What happened, second by second.

#include <fstream>
#include <string>

#include "bars.hpp"
#include "tally.hpp"

/// Draws each second's shares, and writes them down for programs. Threads: one.
class Report {
 public:
  /// `log`: a file for lines "second, calls answered, calls failed, then each instance and its answers"; empty: none.
  Report(Bars& bars, const std::string& log);
  /// False: the log cannot be written.
  bool good() const noexcept { return good_; }

  /// What happened since the last one.
  void second(unsigned number, const Tally::Figures& now);

 private:
  Bars& bars_;
  std::ofstream log_;
  bool good_ = true;
  Tally::Figures before_;
};
