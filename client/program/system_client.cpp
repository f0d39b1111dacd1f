#include "client/program/system_client.h"

#include <cstdlib>
#include <filesystem>

#include "client/platform/view_writer.h"
#include "client/program/exit_status.h"
#include "shared/base/clean_text.h"
#include "shared/base/paths.h"
#include "shared/terminal/print.h"

namespace gleaner::program {

SystemClient system_client() {
  const char* const elsewhere = std::getenv("GLEANER_COMPUTER");  // tests': a computer of their own
  const io::Path root = utf8_path(elsewhere != nullptr ? elsewhere : "/");
  return {root / "var/lib/gleaner-client", root / "run/gleaner-client/view"};
}

io::Path view_of(const SystemClient& client, const io::Path& state) {
  std::error_code error;
  const bool shown =
      std::filesystem::equivalent(state, client.state, error) && std::filesystem::exists(client.view, error);
  return shown ? client.view : platform::view_file_of(state);
}

bool is_meant(const SystemClient& client, const io::Path& own) {
  std::error_code error;
  return own != client.state && !std::filesystem::exists(own, error) &&
         std::filesystem::is_directory(client.state, error);
}

std::string text_of(const view::View& view) {
  return clean_line(view.reason) + "\n  project   " + clean_line(view.project) + "\n  so far    " +
         view::text_of(view.given) + "\n";
}

int answer_for(const SystemClient& client, const std::string& command, bool json) {
  const auto head = io::real_files().read_range(client.view, 0, view::head_bytes);
  const bool shows = (command == "status" || command == "why") && !json;
  if (!head.ok() && shows) {
    terminal::print(stderr,
                    "gleaner: the system's client does not run: `systemctl status gleaner-client` says why; "
                    "`sudo gleaner-client join CODE` joins a project\n");
    return exit_not_running;
  }
  if (!shows) {
    terminal::print(
        stderr,
        "gleaner: this computer's client is the system's, and other users may only see `gleaner status`: use "
        "`sudo gleaner {}`\n",
        command);
    return exit_problem;
  }
  const auto view = view::parse_head(*head);
  if (!view.ok()) {  // it was just being written, or another version wrote it
    terminal::print(stderr,
                    "gleaner: cannot read what the system's client shows; try again, or `sudo gleaner {}`\n",
                    command);
    return exit_problem;
  }
  terminal::print("{}", command == "why" ? clean_line(view->reason) + "\n" : text_of(*view));
  terminal::print(stderr, "`sudo gleaner {}` shows more.\n", command);
  return exit_ok;
}

}  // namespace gleaner::program
