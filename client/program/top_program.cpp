#include "client/program/top_program.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "client/platform/control_socket.h"
#include "client/program/exit_status.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::program {
namespace {

constexpr Duration refresh_interval = std::chrono::seconds{1};

// The terminal as it was, whatever ends us.
class Screen {
 public:
  Screen() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    terminal::write(stdout, terminal::Control{"\033[?1049h\033[?25l"});
  }
  ~Screen() {
    terminal::write(stdout, terminal::Control{"\033[?25h\033[?1049l"});
    std::fflush(stdout);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

 private:
  termios before_{};
};

volatile std::sig_atomic_t ended = 0;

void end(int /*signal*/) {
  ended = 1;
}

TopSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

Result<json::Value> answer_to(const io::Path& socket, const json::Value& request) {
  TRY_ASSIGN(const std::string reply, platform::ask_daemon(socket, json::write(request, {-1, true})));
  return json::parse_or_null(reply);
}

// A key's request; null: none.
json::Value request_of(char key) {
  if (key == 'p') return {{"version", 1}, {"command", "pause"}, {"seconds", 3600}};
  if (key == 'r') return {{"version", 1}, {"command", "resume"}};
  if (key == 'f') return {{"version", 1}, {"command", "finish"}};
  return nullptr;
}

}  // namespace

int run_top(const io::Path& socket) {
  const json::Value status_request = {{"version", 1}, {"command", "status"}};
  auto reply = answer_to(socket, status_request);
  if (!reply.ok()) {
    terminal::print(stderr, "gleaner: {}\n", reply.error().message);
    return reply.error().kind == ErrorKind::not_found ? exit_not_running : exit_problem;
  }
  if (::isatty(STDOUT_FILENO) != 1 || ::isatty(STDIN_FILENO) != 1) {
    terminal::print("{}\n", top_text(*reply, {200, 200}, Colour::no));
    return exit_ok;
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    action.sa_handler = end;  // without SA_RESTART: wait_any() returns
    ::sigaction(number, &action, nullptr);
  }
  const Screen screen;
  while (ended == 0) {
    const std::string shown = reply.ok() ? top_text(*reply, terminal_size(), Colour::yes)
                                         : reply.error().message + "\n\nq close this view";
    terminal::write(stdout, terminal::Control{"\033[H\033[2J"});
    terminal::write(stdout, shown);
    std::fflush(stdout);
    const io::Waitable keys(STDIN_FILENO);
    if (io::wait_any({&keys, 1}, refresh_interval)) {
      char key = 'q';  // the terminal is gone
      if (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q') break;
      if (const json::Value request = request_of(key); !request.is_null())
        if (const auto done = answer_to(socket, request); !done.ok()) {
          reply = done.error();
          continue;
        }
    }
    reply = answer_to(socket, status_request);
  }
  return exit_ok;
}

}  // namespace gleaner::program
