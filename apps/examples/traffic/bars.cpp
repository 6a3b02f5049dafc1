#include "bars.hpp"

#include <langinfo.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

constexpr int longest_bar = 36;
constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

bool locale_is_utf8() {
  std::setlocale(LC_CTYPE, "");
  return std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
}

}  // namespace

Bars::Bars() : terminal_(::isatty(STDOUT_FILENO) == 1), unicode_(locale_is_utf8()) {}

std::string Bars::text_of(const Bar& bar) const {
  const double columns = std::clamp(bar.share, 0.0, 1.0) * longest_bar;
  const int length = static_cast<int>(unicode_ ? std::lround(columns * 8) : 8 * std::lround(columns));  // in eighths
  std::string drawn;
  for (int column = 0; column < longest_bar; ++column) {
    const int filled = std::clamp(length - 8 * column, 0, 8);
    drawn += filled == 0 ? " " : unicode_ ? eighths[filled] : "#";
  }
  char text[256];
  std::snprintf(text, sizeof text, "  %-12.12s %s %5.1f %%%s%.18s", bar.name.c_str(), drawn.c_str(), 100 * bar.share,
                bar.note.empty() ? "" : "  ", bar.note.c_str());
  return text;
}

void Bars::draw(const std::string& heading, const std::vector<Bar>& bars) {
  const std::size_t before = block_.size();
  block_.assign(1, heading);
  for (const Bar& bar : bars) block_.push_back(text_of(bar));
  show("", before);
}

void Bars::say(const std::string& line) {
  if (terminal_) {
    show(line + '\n', block_.size());
  } else {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
}

void Bars::show(const std::string& above, std::size_t erased) const {
  std::string text;
  if (terminal_ && erased > 0) text = "\x1b[" + std::to_string(erased) + "A\r\x1b[J";  // up, and clear from there
  text += above;
  if (terminal_) text += "\x1b[?7l";  // a line too wide is cut off, so that a block is as high as it has lines
  for (const std::string& line : block_) text += line + '\n';
  if (terminal_) text += "\x1b[?7h";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}
