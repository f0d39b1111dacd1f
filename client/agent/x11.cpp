// An X server's idle time by two alarms of the SYNC extension on its counter IDLETIME (X Synchronization
// Extension Protocol, 3.1: TRIGGER and ALARM): one as it grows past the granularity, one as it falls back.
// They arm themselves again, and nothing happens while somebody types. Where there is no such counter, the
// MIT-SCREEN-SAVER extension is asked every second. Also: does the active window fill the screen
// (_NET_ACTIVE_WINDOW, _NET_WM_STATE_FULLSCREEN of the Extended Window Manager Hints)?
#include <xcb/screensaver.h>
#include <xcb/sync.h>
#include <xcb/xcb.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "client/agent/source.h"

namespace gleaner::agent {
namespace {

constexpr Duration asking_interval = std::chrono::seconds{1};
constexpr std::uint32_t property_words_max = 64;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

template <typename T>
Owned<T> owned(T* reply) {
  return Owned<T>(reply);
}

xcb_sync_int64_t wire(std::int64_t value) {
  return {static_cast<std::int32_t>(value >> 32), static_cast<std::uint32_t>(value & 0xFFFFFFFF)};
}

std::int64_t plain(xcb_sync_int64_t value) {
  return static_cast<std::int64_t>(value.hi) * (std::int64_t{1} << 32) + value.lo;
}

class X11Source final : public Source {
 public:
  X11Source(xcb_connection_t* connection, int screen, const SourceSettings& settings)
      : connection_(connection), name_(settings.x_display), granularity_(settings.granularity) {
    xcb_screen_iterator_t screens = xcb_setup_roots_iterator(xcb_get_setup(connection));
    for (int i = 0; i < screen && screens.rem > 1; ++i) xcb_screen_next(&screens);
    root_ = screens.data->root;
  }
  ~X11Source() override { xcb_disconnect(connection_); }
  X11Source(const X11Source&) = delete;
  X11Source& operator=(const X11Source&) = delete;

  Status open(SteadyTime now) {
    find_counter();
    if (counter_ != XCB_NONE) {
      make_alarm(XCB_SYNC_TESTTYPE_POSITIVE_TRANSITION, milliseconds());
      make_alarm(XCB_SYNC_TESTTYPE_NEGATIVE_TRANSITION, milliseconds() - 1);
    } else if (!has(&xcb_screensaver_id)) {
      return Error{ErrorKind::not_found, "the X server " + name_ + " does not tell idle times"};
    }
    active_window_ = atom("_NET_ACTIVE_WINDOW");
    window_state_ = atom("_NET_WM_STATE");
    full_screen_state_ = atom("_NET_WM_STATE_FULLSCREEN");
    watch_properties(root_);
    look_at_window();
    return serve(now, Probe::yes);
  }

  io::Waitable waitable() const override { return io::Waitable(xcb_get_file_descriptor(connection_)); }

  SteadyTime wait_until() const override { return look_at_; }

  Status serve(SteadyTime now, Probe probe) override {
    // Asking waits for an answer, and what comes meanwhile is queued without the descriptor saying so.
    bool look = probe == Probe::yes || now >= look_at_;
    for (bool again = true; again; look = false) {
      bool window_changed = false;
      while (const auto event = owned(xcb_poll_for_event(connection_))) {
        const int type = event->response_type & 0x7F;
        if (counter_ != XCB_NONE && type == sync_event_ + XCB_SYNC_ALARM_NOTIFY)
          take(*reinterpret_cast<const xcb_sync_alarm_notify_event_t*>(event.get()), now);
        if (type == XCB_PROPERTY_NOTIFY) {
          const auto& change = *reinterpret_cast<const xcb_property_notify_event_t*>(event.get());
          window_changed = window_changed || change.atom == active_window_ || change.atom == window_state_;
        }
      }
      if (window_changed) look_at_window();
      if (look) look_at_idle(now);
      again = window_changed || look;
    }
    xcb_flush(connection_);
    if (xcb_connection_has_error(connection_) != 0)
      return Error{ErrorKind::unavailable, "the X server " + name_ + " is gone"};
    return {};
  }

  void say(SessionReport& report, SteadyTime now) const override {
    report.inputs.push_back(presence_.input("X11 display " + name_, now));
    report.inputs.back().asked = counter_ == XCB_NONE;
    if (full_screen_) report.busy.push_back({SessionReport::Busy::Kind::full_screen, *full_screen_});
  }

 private:
  [[nodiscard]] std::int64_t milliseconds() const {
    return std::max<std::int64_t>(
        2, std::chrono::duration_cast<std::chrono::milliseconds>(granularity_).count());
  }

  bool has(xcb_extension_t* extension) {
    const xcb_query_extension_reply_t* found = xcb_get_extension_data(connection_, extension);
    return found != nullptr && found->present != 0;
  }

  void find_counter() {
    if (!has(&xcb_sync_id)) return;
    sync_event_ = xcb_get_extension_data(connection_, &xcb_sync_id)->first_event;
    (void)owned(xcb_sync_initialize_reply(connection_, xcb_sync_initialize(connection_, 3, 1), nullptr));
    const auto counters = owned(xcb_sync_list_system_counters_reply(
        connection_, xcb_sync_list_system_counters(connection_), nullptr));
    if (!counters) return;
    for (auto one = xcb_sync_list_system_counters_counters_iterator(counters.get()); one.rem > 0;
         xcb_sync_systemcounter_next(&one)) {
      // It follows its length at once; xcb_sync_systemcounter_name() skips two bytes of the structure's
      // padding.
      const auto* text = reinterpret_cast<const char*>(&one.data->name_len) + sizeof one.data->name_len;
      const std::string name(text, one.data->name_len);
      if (name == "IDLETIME") counter_ = one.data->counter;
    }
  }

  void make_alarm(std::uint32_t test, std::int64_t value) {
    xcb_sync_create_alarm_value_list_t list{};
    list.counter = counter_;
    list.valueType = XCB_SYNC_VALUETYPE_ABSOLUTE;
    list.value = wire(value);
    list.testType = test;
    list.delta = wire(0);
    list.events = 1;
    const std::uint32_t mask = XCB_SYNC_CA_COUNTER | XCB_SYNC_CA_VALUE_TYPE | XCB_SYNC_CA_VALUE |
                               XCB_SYNC_CA_TEST_TYPE | XCB_SYNC_CA_DELTA | XCB_SYNC_CA_EVENTS;
    xcb_sync_create_alarm_aux(connection_, xcb_generate_id(connection_), mask, &list);
  }

  void take(const xcb_sync_alarm_notify_event_t& alarm, SteadyTime now) {
    if (alarm.state != XCB_SYNC_ALARMSTATE_ACTIVE) return;
    take_idle(plain(alarm.counter_value), now);
  }

  void take_idle(std::int64_t idle, SteadyTime now) {
    if (idle >= milliseconds())
      presence_.idle(now - std::chrono::milliseconds{idle});
    else
      presence_.active();
  }

  // By asking: at first, where nothing is told, and now and then in case an alarm was missed or the server
  // stands still.
  void look_at_idle(SteadyTime now) {
    if (counter_ != XCB_NONE) {
      const auto reply = owned(
          xcb_sync_query_counter_reply(connection_, xcb_sync_query_counter(connection_, counter_), nullptr));
      if (reply) take_idle(plain(reply->counter_value), now);
      return;
    }
    look_at_ = now + asking_interval;
    const auto reply = owned(xcb_screensaver_query_info_reply(
        connection_, xcb_screensaver_query_info(connection_, root_), nullptr));
    if (reply) take_idle(reply->ms_since_user_input, now);
  }

  xcb_atom_t atom(const std::string& name) {
    const auto reply = owned(xcb_intern_atom_reply(
        connection_, xcb_intern_atom(connection_, 0, static_cast<std::uint16_t>(name.size()), name.c_str()),
        nullptr));
    return reply ? reply->atom : static_cast<xcb_atom_t>(XCB_ATOM_NONE);
  }

  void watch_properties(xcb_window_t window) {
    const std::uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE;
    xcb_change_window_attributes(connection_, window, XCB_CW_EVENT_MASK, &events);
  }

  std::vector<std::uint32_t> words(xcb_window_t window, xcb_atom_t property) {
    const auto reply = owned(xcb_get_property_reply(
        connection_,
        xcb_get_property(connection_, 0, window, property, XCB_GET_PROPERTY_TYPE_ANY, 0, property_words_max),
        nullptr));
    if (!reply || reply->format != 32) return {};
    const auto* values = static_cast<const std::uint32_t*>(xcb_get_property_value(reply.get()));
    return {values, values + xcb_get_property_value_length(reply.get()) / 4};
  }

  // "xterm": the second of the two texts of WM_CLASS.
  std::string program_of(xcb_window_t window) {
    const auto reply = owned(xcb_get_property_reply(
        connection_,
        xcb_get_property(connection_, 0, window, XCB_ATOM_WM_CLASS, XCB_ATOM_STRING, 0, property_words_max),
        nullptr));
    if (!reply || reply->format != 8) return "a window";
    const std::string text(static_cast<const char*>(xcb_get_property_value(reply.get())),
                           static_cast<std::size_t>(xcb_get_property_value_length(reply.get())));
    const std::string name = text.c_str();
    const std::string kind = name.size() + 1 < text.size() ? text.c_str() + name.size() + 1 : name.c_str();
    return kind.empty() ? "a window" : kind;
  }

  void look_at_window() {
    full_screen_.reset();
    const auto active = words(root_, active_window_);
    if (active.empty() || active[0] == XCB_NONE) return;
    if (active[0] != window_) watch_properties(window_ = active[0]);
    const auto states = words(window_, window_state_);
    if (std::find(states.begin(), states.end(), full_screen_state_) != states.end())
      full_screen_ = program_of(window_);
  }

  xcb_connection_t* connection_;
  std::string name_;
  Duration granularity_;
  xcb_window_t root_ = XCB_NONE;
  xcb_sync_counter_t counter_ = XCB_NONE;
  int sync_event_ = 0;
  xcb_atom_t active_window_ = XCB_NONE;
  xcb_atom_t window_state_ = XCB_NONE;
  xcb_atom_t full_screen_state_ = XCB_NONE;
  xcb_window_t window_ = XCB_NONE;
  Presence presence_;
  std::optional<std::string> full_screen_;
  SteadyTime look_at_ = SteadyTime::max();  // where nothing is told
};

}  // namespace

Result<std::unique_ptr<Source>> make_x11_source(const SourceSettings& settings, SteadyTime now) {
  int screen = 0;
  xcb_connection_t* const connection = xcb_connect(settings.x_display.c_str(), &screen);
  if (xcb_connection_has_error(connection) != 0) {
    xcb_disconnect(connection);
    return Error{ErrorKind::not_found, "the X server " + settings.x_display + " cannot be reached"};
  }
  auto source = std::make_unique<X11Source>(connection, screen, settings);
  TRY(source->open(now));
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace gleaner::agent
