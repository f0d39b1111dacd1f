#include "client/agent/wayland_toplevels.h"

#include <algorithm>

#include "client/agent/protocols/wlr-foreign-toplevel-client-protocol.h"

namespace gleaner::agent {
namespace {
constexpr std::uint32_t version_of_full_screen = 2;
}

struct WaylandWindows::Window {
  WaylandWindows* windows = nullptr;
  zwlr_foreign_toplevel_handle_v1* handle = nullptr;
  std::string program;
  bool announced = false;  // fills the screen, as told; it holds when the compositor has told all
  bool fills_screen = false;

  ~Window() { zwlr_foreign_toplevel_handle_v1_destroy(handle); }
  static Window& of(void* data) { return *static_cast<Window*>(data); }
};

struct WaylandWindows::Events {
  using Handle = zwlr_foreign_toplevel_handle_v1;
  static void ignored_text(void*, Handle*, const char*) {}
  static void ignored_output(void*, Handle*, wl_output*) {}
  static void program(void* window, Handle*, const char* name) { Window::of(window).program = name; }
  static void state(void* window, Handle*, wl_array* states) {
    const auto* const first = static_cast<const std::uint32_t*>(states->data);
    const auto* const end = first + states->size / sizeof *first;
    const auto has = [&](std::uint32_t one) { return std::find(first, end, one) != end; };
    Window::of(window).announced = has(ZWLR_FOREIGN_TOPLEVEL_HANDLE_V1_STATE_ACTIVATED) &&
                                   has(ZWLR_FOREIGN_TOPLEVEL_HANDLE_V1_STATE_FULLSCREEN);
  }
  static void done(void* window, Handle*) { Window::of(window).fills_screen = Window::of(window).announced; }
  static void closed(void* window, Handle*) {
    std::erase_if(Window::of(window).windows->windows_,
                  [window](const auto& one) { return one.get() == window; });
  }
  static constexpr zwlr_foreign_toplevel_handle_v1_listener of_window = {
      ignored_text, program, ignored_output, ignored_output, state, done, closed};

  static void opened(void* self, zwlr_foreign_toplevel_manager_v1*, Handle* handle) {
    auto& windows = *static_cast<WaylandWindows*>(self);
    auto window = std::make_unique<Window>();
    window->windows = &windows;
    window->handle = handle;
    zwlr_foreign_toplevel_handle_v1_add_listener(handle, &of_window, window.get());
    windows.windows_.push_back(std::move(window));
  }
  static void finished(void* self, zwlr_foreign_toplevel_manager_v1* manager) {
    zwlr_foreign_toplevel_manager_v1_destroy(manager);
    static_cast<WaylandWindows*>(self)->manager_ = nullptr;
  }
  static constexpr zwlr_foreign_toplevel_manager_v1_listener of_manager = {opened, finished};
};

WaylandWindows::~WaylandWindows() {
  if (manager_ != nullptr) zwlr_foreign_toplevel_manager_v1_destroy(manager_);
}

void WaylandWindows::announced(wl_registry* registry, std::uint32_t name, std::string_view interface,
                               std::uint32_t version) {
  if (manager_ != nullptr || interface != zwlr_foreign_toplevel_manager_v1_interface.name) return;
  if (version < version_of_full_screen) return;
  manager_ = static_cast<zwlr_foreign_toplevel_manager_v1*>(
      wl_registry_bind(registry, name, &zwlr_foreign_toplevel_manager_v1_interface, version_of_full_screen));
  zwlr_foreign_toplevel_manager_v1_add_listener(manager_, &Events::of_manager, this);
}

std::optional<std::string> WaylandWindows::full_screen() const {
  for (const auto& window : windows_)
    if (window->fills_screen) return window->program.empty() ? "a window" : window->program;
  return {};
}

}  // namespace gleaner::agent
