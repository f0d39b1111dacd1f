#include "tools/admin/watch.h"

#include <algorithm>

#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

constexpr Duration away_max = std::chrono::minutes{5};
constexpr Duration away_pause_max = std::chrono::seconds{10};

}  // namespace

Duration default_interval(const Display& display) {
  return display.terminal ? Duration(std::chrono::milliseconds{500}) : Duration(std::chrono::seconds{5});
}

Result<protocol::ProblemInfo> watch_problem(Session& session, Api& api, ProblemId id, Duration interval) {
  Outside& outside = session.outside();
  LiveText text(session.people(), session.people_display());
  bool seen = false;
  SteadyTime last_seen = outside.clock.steady();
  Duration pause = interval;
  for (;;) {
    if (outside.interrupted()) {
      text.keep();
      return Error{ErrorKind::io, "stopped watching; the problem continues (`gleaner-admin problem watch " +
                                      std::to_string(id.value) + "` watches again)"};
    }
    const auto problem = api.problem(id);
    if (problem.ok()) {
      seen = true;
      last_seen = outside.clock.steady();
      pause = interval;
      text.draw(progress_lines(*problem, session.people_display()));
      if (ended(problem->state) || problem->state == protocol::ProblemState::stopped) return problem;
    } else {
      const Duration away = outside.clock.steady() - last_seen;
      if (problem.error().kind != ErrorKind::unavailable || !seen || away > away_max) {
        text.keep();
        return problem.error();
      }
      text.draw({"no answer from the server for " + duration_text(to_seconds(away)) + "; trying again"});
      pause = std::min(pause * 2, std::max(away_pause_max, interval));
    }
    outside.wait(pause);
  }
}

}  // namespace gleaner::admin
