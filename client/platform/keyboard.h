// The terminal's keys, one by one as they are pressed and unseen. One at a time, on the main thread. Platform
// file: keyboard_linux.cpp.
#pragma once

#include <memory>
#include <optional>

#include "shared/base/clock.h"

namespace gleaner::platform {

class Keyboard {
 public:
  // Requests to end (Ctrl-C, the terminal's end) do not end the process from now on, but its waiting.
  Keyboard();
  ~Keyboard();  // sets the terminal back
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  // The key that is pressed within `at_most`; '\0' if none is. Nothing: the end was asked for, or the
  // terminal is gone.
  [[nodiscard]] std::optional<char> key(Duration at_most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct TerminalSize {
  int columns = 0;  // 0: it does not say
  int lines = 0;
};
[[nodiscard]] TerminalSize terminal_size();

}  // namespace gleaner::platform
