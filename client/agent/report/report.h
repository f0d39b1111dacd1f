// What gleaner-agent tells the client of the session that it runs in: one JSON object on a line.
//   {"version":1,"session":"2","display":":0","locked":false,
//    "inputs":[{"source":"X11 display :0","active":true,"idle":0,"how":"event"}],
//    "busy":[{"kind":"full-screen","what":"mpv"}],"missing":["the X server :0 does not answer"]}
// `idle`: seconds since the last input when `active` is false; while it is true somebody is at it now, until
// a later report says otherwise. `missing`: sources that were there and do not answer now: nothing that they
// said of calm is repeated, what they said against it is. `takes_notices`: it can be given notices to show
// (notice.h), and answers them; a client that does not know of them says nothing. Everything is bounded and
// of unknown fields nothing is taken; texts are made printable, because they are shown in other people's
// terminals. Pure. Private to this computer: not part of the wire.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace gleaner::agent {

inline constexpr std::size_t report_line_bytes_max = 8192;
inline constexpr std::size_t report_inputs_max = 8;
inline constexpr std::size_t report_busy_max = 8;
inline constexpr std::size_t report_missing_max = 4;
inline constexpr std::size_t report_text_max = 100;  // bytes of any text in it
inline constexpr Duration report_idle_max = std::chrono::hours{24 * 366};
// An agent speaks up at least this often; one that is silent for twice as long is not believed any more.
inline constexpr Duration report_interval = std::chrono::minutes{1};

struct SessionReport {
  struct Input {
    std::string source;  // "X11 display :0", "Wayland", "GNOME"
    bool active = true;
    Duration idle{0};    // when it was told
    bool asked = false;  // found out by asking now and then, not told at once
    friend bool operator==(const Input&, const Input&) = default;
  };
  struct Busy {
    enum class Kind { full_screen, inhibitor } kind = Kind::full_screen;
    std::string what;  // the program, or its reason
    friend bool operator==(const Busy&, const Busy&) = default;
  };
  std::string session;  // logind's name of it; empty: not known
  std::string display;  // ":0"; empty: none
  std::vector<Input> inputs;
  std::optional<bool> locked;  // or its screen saver runs
  std::vector<Busy> busy;
  std::vector<std::string> missing;  // in sentences
  bool takes_notices = false;        // notice.h
  friend bool operator==(const SessionReport&, const SessionReport&) = default;
};

// Without '\n'; at most report_line_bytes_max, what is too much is left out or cut.
[[nodiscard]] std::string encode(const SessionReport& report);
// invalid with a sentence that says what is wrong.
[[nodiscard]] Result<SessionReport> decode(std::string_view line);

// One clean line (shared/base/clean_text.h) of at most report_text_max bytes.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace gleaner::agent
