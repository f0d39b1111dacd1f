// The windows of a Wayland session, as compositors of wlroots tell them to task bars
// (zwlr_foreign_toplevel_management_v1): does the active one fill the screen? It discards titles.
// One thread: the display's.
#pragma once

#include <wayland-client.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct zwlr_foreign_toplevel_manager_v1;
struct zwlr_foreign_toplevel_handle_v1;

namespace gleaner::agent {

class WaylandWindows {
 public:
  WaylandWindows() = default;
  // Before the display is disconnected.
  ~WaylandWindows();
  WaylandWindows(const WaylandWindows&) = delete;
  WaylandWindows& operator=(const WaylandWindows&) = delete;

  // Listens if this global is the interface, in a version that tells of full screens.
  void announced(wl_registry* registry, std::uint32_t name, std::string_view interface,
                 std::uint32_t version);
  // The program of the active window, if that fills the screen: "mpv".
  [[nodiscard]] std::optional<std::string> full_screen() const;

 private:
  struct Window;
  struct Events;  // what the compositor calls
  zwlr_foreign_toplevel_manager_v1* manager_ = nullptr;
  std::vector<std::unique_ptr<Window>> windows_;
};

}  // namespace gleaner::agent
