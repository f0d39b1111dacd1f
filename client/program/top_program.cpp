#include "client/program/top_program.h"

#include <cstdio>

#include "client/platform/control_socket.h"
#include "client/platform/keyboard.h"
#include "client/program/exit_status.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"
#include "shared/terminal/streams.h"

namespace gleaner::program {
namespace {

constexpr Duration refresh_interval = std::chrono::seconds{1};

// The terminal as it was, whatever ends us.
class Screen {
 public:
  Screen() { terminal::write(stdout, terminal::Control{"\033[?1049h\033[?25l"}); }
  ~Screen() {
    terminal::write(stdout, terminal::Control{"\033[?25h\033[?1049l"});
    std::fflush(stdout);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
};

TopSize size_of_terminal() {
  const platform::TerminalSize size = platform::terminal_size();
  return size.columns > 0 && size.lines > 0 ? TopSize{size.columns, size.lines} : TopSize{};
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
  if (!terminal::is_terminal(stdout) || !terminal::is_terminal(stdin)) {
    terminal::print("{}\n", top_text(*reply, {200, 200}, Colour::no));
    return exit_ok;
  }
  platform::Keyboard keyboard;
  const Screen screen;
  while (true) {
    const std::string shown = reply.ok() ? top_text(*reply, size_of_terminal(), Colour::yes)
                                         : reply.error().message + "\n\nq close this view";
    terminal::write(stdout, terminal::Control{"\033[H\033[2J"});
    terminal::write(stdout, shown);
    std::fflush(stdout);
    const std::optional<char> key = keyboard.key(refresh_interval);
    if (!key || *key == 'q') break;
    if (const json::Value request = request_of(*key); !request.is_null())
      if (const auto done = answer_to(socket, request); !done.ok()) {
        reply = done.error();
        continue;
      }
    reply = answer_to(socket, status_request);
  }
  return exit_ok;
}

}  // namespace gleaner::program
