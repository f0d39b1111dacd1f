#include "client/agent/session_watch.h"

#include <algorithm>

#include "shared/base/check.h"

namespace gleaner::agent {

SessionWatch::SessionWatch(const SourceSettings& settings, std::string session, Uplink uplink, Clock& clock)
    : clock_(clock),
      session_(std::move(session)),
      display_(settings.x_display),
      uplink_(std::move(uplink)),
      notifier_(settings.bus) {
  const auto add = [&](const std::string& what, auto make) {
    sources_.push_back(std::make_unique<WatchedSource>(
        what, [settings, make](SteadyTime now) { return make(settings, now); }, clock_));
  };
  // In a Wayland session the X server is only an application: it sees nothing of what others are told.
  if (!settings.wayland_display.empty())
    add("the Wayland compositor " + settings.wayland_display, make_wayland_source);
  else if (!settings.x_display.empty())
    add("the X server " + settings.x_display, make_x11_source);
  if (!settings.bus.empty()) add("the session's D-Bus", make_bus_source);
  for (const auto& source : sources_) source->await(answer_patience);
  std::erase_if(sources_, [this](const auto& source) {
    const auto error = source->over();
    if (error) missing_.push_back(error->message);
    return error.has_value();
  });
}

SessionReport SessionWatch::report() const {
  const SteadyTime now = clock_.steady();
  SessionReport report;
  report.session = session_;
  report.display = display_;
  report.takes_notices = notifier_.available();
  for (const auto& source : sources_) source->say(report, now);
  return report;
}

bool SessionWatch::turn() {
  SteadyTime now = clock_.steady();
  for (const auto& source : sources_) source->heard();
  std::erase_if(sources_, [](const auto& source) { return source->over().has_value(); });
  SessionReport next = report();
  // What somebody waits for goes out before anybody else is looked for.
  const bool news = differ(told_, next) || now >= tell_at_;
  if (news) {
    const std::string line = encode(next);
    uplink_.tell(line);
    if (on_report) on_report(line);
    told_ = std::move(next);
    tell_at_ = now + report_interval;
  }
  if (uplink_.serve(now)) uplink_.tell(encode(told_));
  serve_notices(now);
  return !sources_.empty();
}

void SessionWatch::serve_notices(SteadyTime now) {
  for (const Uplink::Heard& heard : uplink_.take_heard()) {
    auto notice = decode_notice(heard.line);
    if (!notice.ok()) continue;  // a newer client's word, which it does not need to have obeyed
    asked_.push_back({++last_notice_, heard.client, notice->number});
    notice->number = last_notice_;
    notifier_.show(*std::move(notice), now);
  }
  for (NoticeAnswer& answer : notifier_.serve(now)) {
    const auto asked = std::find_if(asked_.begin(), asked_.end(),
                                    [&](const Asked& one) { return one.number == answer.number; });
    CHECK_TRUE(asked != asked_.end());
    answer.number = asked->of_client;
    uplink_.tell(asked->client, encode(answer));
    asked_.erase(asked);
  }
}

std::vector<io::Waitable> SessionWatch::waitables() const {
  std::vector<io::Waitable> all = uplink_.waitables();
  for (const auto& source : sources_) all.push_back(source->waitable());
  if (notifier_.waitable().valid()) all.push_back(notifier_.waitable());
  return all;
}

Duration SessionWatch::wait_time() const {
  SteadyTime until = std::min({tell_at_, uplink_.wait_until(), notifier_.wait_until()});
  const SteadyTime now = clock_.steady();
  for (const auto& source : sources_) until = std::min(until, source->wait_until(now));
  return std::max(Duration{0}, std::chrono::duration_cast<Duration>(until - now));
}

}  // namespace gleaner::agent
