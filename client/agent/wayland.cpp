// A Wayland compositor's word: ext-idle-notify-v1 (wayland-protocols, staging), or KDE's older
// org_kde_kwin_idle, which sway 1.7 and others speak. Both tell of the two changes, one notification a seat.
// Where the compositor tells of its windows, also: does the active one fill the screen?
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "client/agent/protocols/ext-idle-notify-v1-client-protocol.h"
#include "client/agent/protocols/kde-idle-client-protocol.h"
#include "client/agent/source.h"
#include "client/agent/wayland_toplevels.h"

namespace gleaner::agent {
namespace {

class WaylandSource;

// One seat and what was heard of it.
struct Seat {
  WaylandSource* source = nullptr;
  std::uint32_t name = 0;
  wl_seat* seat = nullptr;
  ext_idle_notification_v1* told = nullptr;
  org_kde_kwin_idle_timeout* told_by_kde = nullptr;
  Presence presence;
};

class WaylandSource final : public Source {
 public:
  WaylandSource(wl_display* display, const SourceSettings& settings)
      : display_(display), granularity_(settings.granularity) {}
  ~WaylandSource() override {
    windows_.reset();
    for (const auto& seat : seats_) forget(*seat);
    if (notifier_ != nullptr) ext_idle_notifier_v1_destroy(notifier_);
    if (kde_ != nullptr) org_kde_kwin_idle_destroy(kde_);
    if (registry_ != nullptr) wl_registry_destroy(registry_);
    wl_display_disconnect(display_);
  }
  WaylandSource(const WaylandSource&) = delete;
  WaylandSource& operator=(const WaylandSource&) = delete;

  Status open(SteadyTime now) {
    now_ = now;
    registry_ = wl_display_get_registry(display_);
    wl_registry_add_listener(registry_, &registry_listener, this);
    if (wl_display_roundtrip(display_) < 0 || (notifier_ == nullptr && kde_ == nullptr))
      return Error{ErrorKind::not_found, "the Wayland compositor does not tell idle times"};
    listen();
    return serve(now, Probe::yes);
  }

  io::Waitable waitable() const override { return io::Waitable(wl_display_get_fd(display_)); }

  SteadyTime wait_until() const override { return SteadyTime::max(); }

  Status serve(SteadyTime now, Probe probe) override {
    now_ = now;
    // A compositor that stands still does not answer.
    if (probe == Probe::yes && wl_display_roundtrip(display_) < 0) return gone();
    while (wl_display_prepare_read(display_) != 0)
      if (wl_display_dispatch_pending(display_) < 0) return gone();
    wl_display_flush(display_);
    if (wl_display_read_events(display_) < 0 && errno != EAGAIN) return gone();
    if (wl_display_dispatch_pending(display_) < 0) return gone();
    listen();  // a seat may have come
    if (wl_display_flush(display_) < 0 && errno != EAGAIN) return gone();
    return {};
  }

  void say(SessionReport& report, SteadyTime now) const override {
    // Somebody at any seat is somebody here.
    std::optional<SessionReport::Input> latest;
    for (const auto& seat : seats_) {
      const auto input = seat->presence.input("Wayland", now);
      if (!latest || input.active || (!latest->active && input.idle < latest->idle)) latest = input;
    }
    if (latest) report.inputs.push_back(*latest);
    if (const auto program = windows_->full_screen())
      report.busy.push_back({SessionReport::Busy::Kind::full_screen, *program});
  }

 private:
  static Status gone() { return Error{ErrorKind::unavailable, "the Wayland compositor is gone"}; }

  [[nodiscard]] std::uint32_t milliseconds() const {
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(granularity_).count());
  }

  static void forget(Seat& seat) {
    if (seat.told != nullptr) ext_idle_notification_v1_destroy(seat.told);
    if (seat.told_by_kde != nullptr) org_kde_kwin_idle_timeout_destroy(seat.told_by_kde);
    if (seat.seat != nullptr) wl_seat_destroy(seat.seat);
  }

  void listen() {
    for (const auto& seat : seats_) {
      if (seat->told != nullptr || seat->told_by_kde != nullptr) continue;
      if (notifier_ != nullptr) {
        seat->told = ext_idle_notifier_v1_get_idle_notification(notifier_, milliseconds(), seat->seat);
        ext_idle_notification_v1_add_listener(seat->told, &notification_listener, seat.get());
      } else if (kde_ != nullptr) {
        seat->told_by_kde = org_kde_kwin_idle_get_idle_timeout(kde_, seat->seat, milliseconds());
        org_kde_kwin_idle_timeout_add_listener(seat->told_by_kde, &timeout_listener, seat.get());
      }
    }
  }

  void announced(std::uint32_t name, const std::string& interface, std::uint32_t version) {
    windows_->announced(registry_, name, interface, version);
    const auto bind = [&](const wl_interface* what) { return wl_registry_bind(registry_, name, what, 1); };
    if (interface == wl_seat_interface.name) {
      auto seat = std::make_unique<Seat>();
      seat->source = this;
      seat->name = name;
      seat->seat = static_cast<wl_seat*>(bind(&wl_seat_interface));
      seats_.push_back(std::move(seat));
    } else if (interface == ext_idle_notifier_v1_interface.name && notifier_ == nullptr) {
      notifier_ = static_cast<ext_idle_notifier_v1*>(bind(&ext_idle_notifier_v1_interface));
    } else if (interface == org_kde_kwin_idle_interface.name && kde_ == nullptr) {
      kde_ = static_cast<org_kde_kwin_idle*>(bind(&org_kde_kwin_idle_interface));
    }
  }

  void removed(std::uint32_t name) {
    std::erase_if(seats_, [name](const std::unique_ptr<Seat>& seat) {
      if (seat->name == name) forget(*seat);
      return seat->name == name;
    });
  }

  // What a seat's notification says; `seat` is the listener's data.
  static void became_idle(void* seat) {
    auto& told = *static_cast<Seat*>(seat);
    told.presence.idle(told.source->now_ - told.source->granularity_);
  }
  static void became_active(void* seat) { static_cast<Seat*>(seat)->presence.active(); }

  static void appeared(void* self, wl_registry*, std::uint32_t name, const char* interface,
                       std::uint32_t version) {
    static_cast<WaylandSource*>(self)->announced(name, interface, version);
  }
  static void disappeared(void* self, wl_registry*, std::uint32_t name) {
    static_cast<WaylandSource*>(self)->removed(name);
  }
  static constexpr wl_registry_listener registry_listener = {appeared, disappeared};
  static constexpr ext_idle_notification_v1_listener notification_listener = {
      [](void* seat, ext_idle_notification_v1*) { became_idle(seat); },
      [](void* seat, ext_idle_notification_v1*) { became_active(seat); }};
  static constexpr org_kde_kwin_idle_timeout_listener timeout_listener = {
      [](void* seat, org_kde_kwin_idle_timeout*) { became_idle(seat); },
      [](void* seat, org_kde_kwin_idle_timeout*) { became_active(seat); }};

  wl_display* display_;
  Duration granularity_;
  wl_registry* registry_ = nullptr;
  ext_idle_notifier_v1* notifier_ = nullptr;
  org_kde_kwin_idle* kde_ = nullptr;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::unique_ptr<WaylandWindows> windows_ = std::make_unique<WaylandWindows>();
  SteadyTime now_{};
};

}  // namespace

Result<std::unique_ptr<Source>> make_wayland_source(const SourceSettings& settings, SteadyTime now) {
  wl_display* const display = wl_display_connect(settings.wayland_display.c_str());
  if (display == nullptr)
    return Error{ErrorKind::not_found, "the Wayland compositor " + settings.wayland_display +
                                           " cannot be reached: " + std::strerror(errno)};
  auto source = std::make_unique<WaylandSource>(display, settings);
  TRY(source->open(now));
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace gleaner::agent
