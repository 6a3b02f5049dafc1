#include "report.hpp"

#include <sstream>
#include <vector>

Report::Report(Bars& bars, const std::string& log) : bars_(bars) {
  if (log.empty()) return;
  log_.open(log);
  good_ = log_.is_open();
}

void Report::second(unsigned number, const Tally::Figures& now) {
  const std::uint64_t answered = now.answered - before_.answered;
  const std::uint64_t failed = now.failed - before_.failed;
  std::vector<Bar> shares;
  std::ostringstream line;
  line << number << ' ' << answered << ' ' << failed;
  for (const auto& [name, instance] : now.instances) {
    const std::uint64_t answers = instance.answers - before_.instances[name].answers;
    const double share = answered == 0 ? 0 : static_cast<double>(answers) / static_cast<double>(answered);
    shares.push_back({name, share, answers == 0 ? "" : instance.process});
    line << ' ' << name << ' ' << answers;
  }
  if (failed > 0) bars_.say("failed: " + now.failure);
  bars_.draw("second " + std::to_string(number) + ": " + std::to_string(answered) + " calls answered, " +
                 std::to_string(failed) + " failed",
             shares);
  if (log_.is_open()) good_ = good_ && (log_ << line.str() << std::endl);
  before_ = now;
}
