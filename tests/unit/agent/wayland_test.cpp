// The Wayland source against a compositor of our own, which has a seat and tells what the test wants.
#include <unistd.h>
#include <wayland-server.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "client/agent/protocols/ext-idle-notify-v1-server-protocol.h"
#include "client/agent/protocols/kde-idle-server-protocol.h"
#include "client/agent/protocols/wlr-foreign-toplevel-server-protocol.h"
#include "client/agent/source.h"
#include "tests/catch.h"

namespace gleaner::agent {
namespace {
using namespace std::chrono_literals;

enum class Speaks { nothing, ext, kde };

class Compositor {
 public:
  explicit Compositor(Speaks speaks) : display_(wl_display_create()) {
    directory_ = std::filesystem::temp_directory_path() / ("gleaner-wayland-" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
    ::setenv("XDG_RUNTIME_DIR", directory_.c_str(), 1);
    name_ = wl_display_add_socket_auto(display_);
    REQUIRE(::pipe(pipe_) == 0);
    orders_ =
        wl_event_loop_add_fd(wl_display_get_event_loop(display_), pipe_[0], WL_EVENT_READABLE, obey, this);
    wl_global_create(display_, &wl_seat_interface, 1, this, bind<&wl_seat_interface, &seat_implementation>);
    if (speaks == Speaks::ext)
      wl_global_create(display_, &ext_idle_notifier_v1_interface, 1, this,
                       bind<&ext_idle_notifier_v1_interface, &ext_implementation>);
    if (speaks == Speaks::kde)
      wl_global_create(display_, &org_kde_kwin_idle_interface, 1, this,
                       bind<&org_kde_kwin_idle_interface, &kde_implementation>);
    wl_global_create(display_, &zwlr_foreign_toplevel_manager_v1_interface, 2, this, bind_windows);
    thread_ = std::thread([this] { wl_display_run(display_); });
  }
  ~Compositor() {
    command('q');
    thread_.join();
    wl_event_source_remove(orders_);
    wl_display_destroy_clients(display_);
    wl_display_destroy(display_);
    ::close(pipe_[0]);
    ::close(pipe_[1]);
    std::filesystem::remove_all(directory_);
  }
  Compositor(const Compositor&) = delete;
  Compositor& operator=(const Compositor&) = delete;

  void say_idle() { command('i'); }
  void say_active() { command('a'); }
  void open_window() { command('w'); }
  void fill_screen() { command('f'); }   // the window, which is the active one
  void leave_window() { command('l'); }  // another one becomes active
  void close_window() { command('c'); }
  [[nodiscard]] SourceSettings settings() const {
    SourceSettings settings;
    settings.wayland_display = directory_ / name_;
    settings.granularity = 3s;
    return settings;
  }
  [[nodiscard]] std::uint32_t timeout() const { return timeout_; }

 private:
  template <const wl_interface* What, const auto* Implementation>
  static void bind(wl_client* client, void* self, std::uint32_t version, std::uint32_t id) {
    wl_resource* const resource = wl_resource_create(client, What, static_cast<int>(version), id);
    wl_resource_set_implementation(resource, Implementation, self, nullptr);
  }
  void command(char what) const { REQUIRE(::write(pipe_[1], &what, 1) == 1); }
  static int obey(int pipe, std::uint32_t, void* data) {
    auto& compositor = *static_cast<Compositor*>(data);
    char what = 0;
    if (::read(pipe, &what, 1) != 1 || what == 'q') {
      wl_display_terminate(compositor.display_);
      return 0;
    }
    if (what != 'i' && what != 'a') return compositor.show(what);
    compositor.idle_ = what == 'i';
    compositor.tell();
    return 0;
  }
  int show(char what) {
    if (what == 'w') {
      window_ = wl_resource_create(wl_resource_get_client(windows_),
                                   &zwlr_foreign_toplevel_handle_v1_interface, 2, 0);
      wl_resource_set_implementation(window_, &window_implementation, this, nullptr);
      zwlr_foreign_toplevel_manager_v1_send_toplevel(windows_, window_);
      zwlr_foreign_toplevel_handle_v1_send_title(window_, "a film");
      zwlr_foreign_toplevel_handle_v1_send_app_id(window_, "mpv");
    }
    if (what == 'c') {
      zwlr_foreign_toplevel_handle_v1_send_closed(window_);
      return 0;
    }
    wl_array states;
    wl_array_init(&states);
    const auto add = [&states](std::uint32_t state) {
      *static_cast<std::uint32_t*>(wl_array_add(&states, sizeof state)) = state;
    };
    if (what != 'l') add(ZWLR_FOREIGN_TOPLEVEL_HANDLE_V1_STATE_ACTIVATED);
    if (what != 'w') add(ZWLR_FOREIGN_TOPLEVEL_HANDLE_V1_STATE_FULLSCREEN);
    zwlr_foreign_toplevel_handle_v1_send_state(window_, &states);
    wl_array_release(&states);
    zwlr_foreign_toplevel_handle_v1_send_done(window_);
    return 0;
  }
  static void bind_windows(wl_client* client, void* self, std::uint32_t version, std::uint32_t id) {
    auto& compositor = *static_cast<Compositor*>(self);
    compositor.windows_ = wl_resource_create(client, &zwlr_foreign_toplevel_manager_v1_interface,
                                             static_cast<int>(version), id);
    wl_resource_set_implementation(compositor.windows_, &windows_implementation, self, nullptr);
  }
  // Nothing was said yet, or nobody listens yet: then at once when somebody does.
  void tell() const {
    if (told_ != nullptr)
      (*idle_ ? ext_idle_notification_v1_send_idled : ext_idle_notification_v1_send_resumed)(told_);
    if (kde_told_ != nullptr)
      (*idle_ ? org_kde_kwin_idle_timeout_send_idle : org_kde_kwin_idle_timeout_send_resumed)(kde_told_);
  }
  static void destroy(wl_client*, wl_resource* resource) { wl_resource_destroy(resource); }
  static Compositor& self(wl_resource* resource) {
    return *static_cast<Compositor*>(wl_resource_get_user_data(resource));
  }
  static void notify(wl_client* client, wl_resource* notifier, std::uint32_t id, std::uint32_t timeout,
                     wl_resource*) {
    Compositor& compositor = self(notifier);
    compositor.timeout_ = timeout;
    compositor.told_ = wl_resource_create(client, &ext_idle_notification_v1_interface, 1, id);
    wl_resource_set_implementation(compositor.told_, &told_implementation, &compositor, nullptr);
    if (compositor.idle_) compositor.tell();
  }
  static void notify_kde(wl_client* client, wl_resource* idle, std::uint32_t id, wl_resource*,
                         std::uint32_t timeout) {
    Compositor& compositor = self(idle);
    compositor.timeout_ = timeout;
    compositor.kde_told_ = wl_resource_create(client, &org_kde_kwin_idle_timeout_interface, 1, id);
    wl_resource_set_implementation(compositor.kde_told_, &kde_told_implementation, &compositor, nullptr);
    if (compositor.idle_) compositor.tell();
  }

  static inline const struct wl_seat_interface seat_implementation = {
      [](wl_client*, wl_resource*, std::uint32_t) {}, [](wl_client*, wl_resource*, std::uint32_t) {},
      [](wl_client*, wl_resource*, std::uint32_t) {}, destroy};
  static inline const struct ext_idle_notification_v1_interface told_implementation = {destroy};
  static inline const struct ext_idle_notifier_v1_interface ext_implementation = {destroy, notify};
  static inline const struct org_kde_kwin_idle_timeout_interface kde_told_implementation = {
      destroy, [](wl_client*, wl_resource*) {}};
  static inline const struct org_kde_kwin_idle_interface kde_implementation = {notify_kde};
  static void nothing(wl_client*, wl_resource*) {}
  static inline const struct zwlr_foreign_toplevel_manager_v1_interface windows_implementation = {nothing};
  static inline const struct zwlr_foreign_toplevel_handle_v1_interface window_implementation = {
      nothing,
      nothing,
      nothing,
      nothing,
      [](wl_client*, wl_resource*, wl_resource*) {},
      nothing,
      [](wl_client*, wl_resource*, wl_resource*, std::int32_t, std::int32_t, std::int32_t, std::int32_t) {},
      destroy};

  wl_display* display_;
  std::filesystem::path directory_;
  std::string name_;
  wl_event_source* orders_ = nullptr;
  wl_resource* told_ = nullptr;
  wl_resource* kde_told_ = nullptr;
  wl_resource* windows_ = nullptr;
  wl_resource* window_ = nullptr;
  std::optional<bool> idle_;  // in the thread only, as the four above
  std::atomic<std::uint32_t> timeout_ = 0;
  int pipe_[2] = {-1, -1};
  std::thread thread_;
};

// What the source says after it has heard something.
SessionReport::Input next_word(Source& source) {
  const io::Waitable word = source.waitable();
  CHECK(io::wait_any({&word, 1}, 10s));
  CHECK(source.serve(system_clock().steady(), Probe::no).ok());
  SessionReport report;
  source.say(report, system_clock().steady());
  REQUIRE(report.inputs.size() == 1);
  return report.inputs[0];
}

TEST_CASE("A Wayland compositor tells of both changes, in either protocol") {
  const Speaks speaks = GENERATE(Speaks::ext, Speaks::kde);
  Compositor compositor(speaks);
  const auto source = make_wayland_source(compositor.settings(), system_clock().steady());
  REQUIRE(source.ok());
  SessionReport first;
  (*source)->say(first, system_clock().steady());
  REQUIRE(first.inputs.size() == 1);
  CHECK(first.inputs[0].active);  // until it is told otherwise
  for (int round = 0; round < 3; ++round) {
    compositor.say_idle();
    const auto idle = next_word(**source);
    CHECK_FALSE(idle.active);
    CHECK(idle.idle >= 3s);
    CHECK(idle.source == "Wayland");
    compositor.say_active();
    CHECK(next_word(**source).active);
  }
  CHECK(compositor.timeout() == 3000);
}

TEST_CASE("The active window of a compositor that tells of windows fills the screen, or does not") {
  Compositor compositor(Speaks::ext);
  const auto source = make_wayland_source(compositor.settings(), system_clock().steady());
  REQUIRE(source.ok());
  const auto fills_screen = [&]() -> std::string {
    const io::Waitable word = (*source)->waitable();
    CHECK(io::wait_any({&word, 1}, 10s));
    CHECK((*source)->serve(system_clock().steady(), Probe::no).ok());
    SessionReport report;
    (*source)->say(report, system_clock().steady());
    if (report.busy.empty()) return "";
    CHECK(report.busy[0].kind == SessionReport::Busy::Kind::full_screen);
    return report.busy[0].what;
  };
  for (int round = 0; round < 2; ++round) {
    compositor.open_window();
    CHECK(fills_screen().empty());
    compositor.fill_screen();
    CHECK(fills_screen() == "mpv");
    compositor.leave_window();
    CHECK(fills_screen().empty());
    compositor.fill_screen();
    CHECK(fills_screen() == "mpv");
    compositor.close_window();
    CHECK(fills_screen().empty());
  }
}

TEST_CASE("A compositor that tells no idle times is no source, and one that ends is no more") {
  {
    Compositor silent(Speaks::nothing);
    CHECK(make_wayland_source(silent.settings(), system_clock().steady()).error().kind ==
          ErrorKind::not_found);
  }
  auto compositor = std::make_unique<Compositor>(Speaks::ext);
  const SourceSettings settings = compositor->settings();
  const auto source = make_wayland_source(settings, system_clock().steady());
  REQUIRE(source.ok());
  compositor.reset();
  Status served;
  for (int i = 0; i < 100 && served.ok(); ++i) served = (*source)->serve(system_clock().steady(), Probe::no);
  CHECK(served.error().kind == ErrorKind::unavailable);
  CHECK_FALSE(make_wayland_source(settings, system_clock().steady()).ok());
}

}  // namespace
}  // namespace gleaner::agent
