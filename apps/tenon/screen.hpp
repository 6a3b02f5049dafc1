#pragma once
// A terminal that is drawn anew again and again, and put back as it was.

#include <termios.h>

#include <cstddef>
#include <string>

#include "tenon/clock.hpp"

namespace tenon::cli {

/// Standard output as a screen, if it is a terminal and `redraw`; otherwise texts are printed one below the other. From
/// its construction to its end SIGINT, SIGTERM and SIGHUP end pause() instead of the process, and SIGTSTP puts the
/// terminal back before it stops the process. Threads: one; others must be started afterwards, so that they leave the
/// signals alone.
class Screen {
 public:
  explicit Screen(bool redraw);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  /// Puts the terminal back.
  ~Screen();

  /// False: texts are printed one below the other.
  bool redraws() const noexcept { return terminal_; }
  /// Shows `text`: on a terminal in place of what was there, clipped to its size. False: standard output is closed.
  bool show(const std::string& text);
  /// Waits. True: `time` is over, or the terminal has another size or is back. False: a signal, or the key q, asks for
  /// the end. Blocking: yes.
  bool pause(Duration time);
  /// Puts the terminal back, until the next show().
  void leave();

 private:
  void enter();

  bool terminal_;
  bool keyboard_;
  bool entered_ = false;
  int signals_ = -1;
  termios before_{};
};

}  // namespace tenon::cli
