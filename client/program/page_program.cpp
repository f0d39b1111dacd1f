#include "client/program/page_program.h"

#include <fmt/format.h>

#include <cstdlib>

#include "client/page/server.h"
#include "client/platform/control_socket.h"
#include "client/program/exit_status.h"
#include "client/program/preferences_program.h"
#include "client/program/projects_program.h"
#include "client/program/system_client.h"
#include "client/view/view_file.h"
#include "shared/crypto/keys.h"
#include "shared/io/browser.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::program {
namespace {

constexpr Duration unused_for = std::chrono::hours{1};
constexpr std::size_t token_bytes = 24;

class ClientBackend final : public page::Backend {
 public:
  explicit ClientBackend(const PageCommand& command) : command_(command) {}
  Result<std::string> ask(const std::string& request) override {
    return platform::ask_daemon(command_.socket, request);
  }
  Result<std::string> preferences() override { return preferences_json(command_.state); }
  Status set_preference(const std::string& key, const std::optional<std::string>& value) override {
    return change_preference_on_page(command_.state, command_.socket, key, value);
  }
  Result<std::string> change_project(const std::string& key, const std::string& verb, double share) override {
    return program::change_project({command_.state, command_.socket, verb, key, share});
  }
  // The same file as the screensaver reads.
  Result<Picture> picture() override {
    const io::Path file = view_of(system_client(), command_.state.root);
    io::Files& files = io::real_files();
    const Error none{ErrorKind::not_found, "there is no picture yet"};
    const auto head = files.read_range(file, 0, view::head_bytes);
    if (!head.ok()) return none;
    const auto view = view::parse_head(*head);
    if (!view.ok() || view->picture.width == 0) return none;
    const auto& shown = view->picture;
    TRY_ASSIGN(Bytes pixels, files.read_range(file, view::head_bytes, view::picture_bytes(shown)));
    if (static_cast<std::int64_t>(pixels.size()) != view::picture_bytes(shown)) return none;
    const json::Value about = {{"number", shown.number},   {"change", shown.change},
                               {"width", shown.width},     {"height", shown.height},
                               {"problem", shown.problem}, {"application", shown.application}};
    return Picture{json::write(about, {-1, true}), std::move(pixels)};
  }

 private:
  const PageCommand& command_;
};

bool has_display() {
  return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

}  // namespace

int run_page(const PageCommand& command) {
  const std::string token = to_hex(crypto::random_secret(token_bytes));
  ClientBackend backend(command);
  auto server = page::Server::listen(command.port, token, backend);
  if (!server.ok()) {
    terminal::print(stderr, "gleaner: {}\n", server.error().message);
    return exit_problem;
  }
  // Behind '#': browsers keep that part to themselves.
  const std::string place = fmt::format("http://127.0.0.1:{}", (*server)->port());
  terminal::print(
      "{}/#{}\nAnyone who has this address can control the client. Ctrl-C, or an hour without use, ends "
      "it.\n",
      place, token);
  std::fflush(stdout);
  if (command.browser && has_display()) {
    io::forget_programs();  // when the browser ends is of no interest
    (*server)->open_for_own_user();
    if (const auto opened = io::open_in_browser(place + page::open_target); !opened.ok())
      terminal::print(stderr, "gleaner: {}; open the address above in a browser\n", opened.error().message);
  }
  (*server)->run(unused_for);
  return exit_ok;
}

}  // namespace gleaner::program
