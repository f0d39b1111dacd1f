// The client's end of what gleaner-agent tells: Unix sockets on which agents of desktop sessions speak, one
// JSON line a report (client/agent/report/report.h), and are given notices to show
// (client/agent/report/notice.h). Nothing waits for an agent: one that does not read is dropped. The system
// identifies the sender (SO_PEERCRED), which must be the client's own user, root, or a user who is logged in.
// A report holds for the session of the user who made it and no other. Not thread-safe. Platform file:
// agents_linux.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/agent/report/notice.h"
#include "client/agent/report/report.h"
#include "shared/base/clock.h"
#include "shared/io/descriptor.h"
#include "shared/io/files.h"
#include "shared/io/waiting.h"

namespace gleaner::platform {

struct AgentPlace {
  io::Path path;
  bool everybody = false;  // may anybody who is logged in speak here, or the client's own user and root?
};

class Agents {
 public:
  using Admits = std::function<bool(unsigned user)>;
  struct Told {
    unsigned user = 0;
    agent::SessionReport report;
    SteadyTime at;
    // How long the session has been unused now: nothing if it does not say.
    [[nodiscard]] std::optional<Duration> unused(SteadyTime now) const;
  };

  // A place that cannot be used is left out, and the log says why. `admits`: empty, who is logged in.
  explicit Agents(std::vector<AgentPlace> places, Admits admits = {});
  ~Agents();  // removes the sockets

  [[nodiscard]] std::vector<io::Waitable> waitables() const;
  // Takes in what was said. True if there was something.
  bool serve(SteadyTime now);
  // The last report of each agent that is there. Of one that is silent for too long only what it said against
  // computing is left.
  [[nodiscard]] std::vector<Told> told(SteadyTime now) const;
  // When the sessions whose agents are gone were last used.
  [[nodiscard]] std::optional<SteadyTime> left() const { return left_; }

  // An agent shows this notice: that of the session used last. One that cannot is asked again after
  // offer_again, the next agent at once. Nothing: withdraws the notice.
  void offer(std::optional<agent::Notice> notice) { offered_ = std::move(notice); }
  // The number of a notice that an agent has shown, once.
  [[nodiscard]] std::optional<std::int64_t> take_shown() { return std::exchange(shown_, std::nullopt); }

  static constexpr Duration answer_patience = std::chrono::seconds{30};
  static constexpr Duration offer_again = std::chrono::hours{1};
  static constexpr std::size_t callers_max = 16;
  static constexpr std::size_t callers_of_user_max = 4;
  static constexpr int reports_per_second_max = 50;

 private:
  struct Caller {
    io::Descriptor connection;
    Told told;
    bool spoke = false;
    std::string line;
    SteadyTime second{};  // in which `reports` came
    int reports = 0;
    std::int64_t offered = 0;  // the last notice that it was given
    SteadyTime offered_at{};
    bool answered = false;
  };
  struct Place {
    AgentPlace place;
    io::Descriptor listener;
  };
  bool take_new(Place& place, SteadyTime now);
  [[nodiscard]] bool read(Caller& caller, SteadyTime now, bool& news);  // false: the caller is done with
  [[nodiscard]] bool take_line(Caller& caller, std::string_view line, SteadyTime now);
  void forget(const Caller& caller, SteadyTime now);
  void take_answer(Caller& caller, const agent::NoticeAnswer& answer);
  void pass_on(SteadyTime now);

  Admits admits_;
  std::vector<Place> places_;
  std::vector<Caller> callers_;
  std::optional<SteadyTime> left_;
  std::optional<agent::Notice> offered_;
  std::optional<std::int64_t> shown_;
};

// Is somebody of this number logged in here, by logind, by the record of logins or at an X server?
[[nodiscard]] bool is_logged_in(unsigned user);

}  // namespace gleaner::platform
