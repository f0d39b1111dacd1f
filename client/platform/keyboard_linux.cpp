#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "client/platform/keyboard.h"
#include "shared/io/waiting.h"

namespace gleaner::platform {
namespace {

volatile std::sig_atomic_t end_asked = 0;

void ask_for_end(int /*signal*/) {
  end_asked = 1;
}

}  // namespace

struct Keyboard::State {
  termios before{};
};

Keyboard::Keyboard() : state_(std::make_unique<State>()) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    action.sa_handler = ask_for_end;  // without SA_RESTART: wait_any() returns
    ::sigaction(number, &action, nullptr);
  }
  ::tcgetattr(STDIN_FILENO, &state_->before);
  termios raw = state_->before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

Keyboard::~Keyboard() {
  ::tcsetattr(STDIN_FILENO, TCSANOW, &state_->before);
}

std::optional<char> Keyboard::key(Duration at_most) {
  if (end_asked != 0) return std::nullopt;
  const io::Waitable keys(STDIN_FILENO);
  const bool pressed = io::wait_any({&keys, 1}, at_most).has_value();
  if (end_asked != 0) return std::nullopt;
  if (!pressed) return '\0';
  char key = '\0';
  if (::read(STDIN_FILENO, &key, 1) != 1) return std::nullopt;
  return key;
}

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_col, size.ws_row};
}

}  // namespace gleaner::platform
