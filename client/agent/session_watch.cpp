#include "client/agent/session_watch.h"

#include <algorithm>

namespace gleaner::agent {

SessionWatch::SessionWatch(const SourceSettings& settings, std::string session, Uplink uplink, Clock& clock)
    : clock_(clock), session_(std::move(session)), display_(settings.x_display), uplink_(std::move(uplink)) {
  const SteadyTime now = clock_.steady();
  const auto add = [this](Result<std::unique_ptr<Source>> source) {
    if (source.ok())
      sources_.push_back(std::move(source).value());
    else
      missing_.push_back(source.error().message);
  };
  // In a Wayland session the X server is only an application: it sees nothing of what others are told.
  if (!settings.wayland_display.empty())
    add(make_wayland_source(settings, now));
  else if (!settings.x_display.empty())
    add(make_x11_source(settings, now));
  if (!settings.bus.empty()) add(make_bus_source(settings, now));
}

SessionReport SessionWatch::report() const {
  const SteadyTime now = clock_.steady();
  SessionReport report;
  report.session = session_;
  report.display = display_;
  for (const auto& source : sources_) source->say(report, now);
  return report;
}

// Idle times grow by themselves: only the change from idle to active or back is news.
bool SessionWatch::changed(const SessionReport& report) const {
  SessionReport before = told_;
  SessionReport after = report;
  for (SessionReport* one : {&before, &after})
    for (auto& input : one->inputs) input.idle = Duration{0};
  return before != after;
}

bool SessionWatch::turn() {
  SteadyTime now = clock_.steady();
  std::erase_if(sources_, [now](const std::unique_ptr<Source>& source) { return !source->serve(now).ok(); });
  SessionReport next = report();
  // What somebody waits for goes out before anybody else is looked for.
  const bool news = changed(next) || now >= tell_at_;
  if (news) {
    const std::string line = encode(next);
    uplink_.tell(line);
    if (on_report) on_report(line);
    told_ = std::move(next);
    tell_at_ = now + report_interval;
  }
  if (uplink_.serve(now)) uplink_.tell(encode(told_));
  return !sources_.empty();
}

std::vector<int> SessionWatch::descriptors() const {
  std::vector<int> all = uplink_.descriptors();
  for (const auto& source : sources_) all.push_back(source->descriptor());
  return all;
}

Duration SessionWatch::wait_time() const {
  SteadyTime until = std::min(tell_at_, uplink_.wait_until());
  for (const auto& source : sources_) until = std::min(until, source->wait_until());
  return std::max(Duration{0}, std::chrono::duration_cast<Duration>(until - clock_.steady()));
}

}  // namespace gleaner::agent
