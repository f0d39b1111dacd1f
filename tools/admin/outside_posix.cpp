#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "shared/base/version.h"
#include "tools/admin/browser_handover.h"
#include "tools/admin/outside.h"

namespace gleaner::admin {
namespace {

volatile std::sig_atomic_t interruption = 0;

extern "C" void note_interruption(int) {
  interruption = 1;
}

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

Display display_of(int descriptor) {
  Display display;
  display.terminal = ::isatty(descriptor) == 1;
  if (!display.terminal) return display;
  display.colour = !variable("NO_COLOR") && variable("TERM").value_or("dumb") != "dumb";
  const std::string locale =
      variable("LC_ALL").value_or(variable("LC_CTYPE").value_or(variable("LANG").value_or("")));
  display.unicode = locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    display.columns = std::clamp<int>(size.ws_col, 20, 400);
  return display;
}

void wait(Duration duration) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  ::poll(nullptr, 0, static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, 3'600'000)));
}

std::optional<std::string> ask(const std::string& question) {
  if (::isatty(STDIN_FILENO) != 1) return std::nullopt;
  std::cerr << question << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer;
}

io::Path installation() {
  std::error_code failure;
  const io::Path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  return failure ? io::Path("/usr") : program.parent_path().parent_path();
}

Status open_browser(const std::string& address) {
  constexpr Duration patience = std::chrono::seconds{60};  // a browser may have to start
  return hand_to_browser(address, patience, [] { return interruption != 0; });
}

bool reader_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

Outside real_outside() {
  struct sigaction action {};
  action.sa_handler = note_interruption;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return {std::cout,
          std::cerr,
          display_of(STDOUT_FILENO),
          display_of(STDERR_FILENO),
          io::real_files(),
          io::real_processes(),
          system_clock(),
          installation(),
          [](const Trusted& trusted) {
            auto pinned = std::make_shared<io::PinnedTlsKey>();
            pinned->set(trusted.tls_key);
            return io::make_curl_client(trusted.vouchers, std::string("gleaner-admin/") + version_text, {},
                                        {}, std::move(pinned));
          },
          wait,
          [] { return interruption != 0; },
          variable,
          ask,
          open_browser,
          reader_gone};
}

}  // namespace gleaner::admin
