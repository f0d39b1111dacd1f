#include <pwd.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-login.h>
#include <unistd.h>
#include <utmpx.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "client/platform/agents.h"
#include "client/platform/local_socket.h"

namespace gleaner::platform {
namespace {

constexpr std::size_t reads_per_turn_max = 16;

bool in_login_record(unsigned user) {
  std::array<char, 4096> texts{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, texts.data(), texts.size(), &found) != 0 || found == nullptr) return false;
  const std::string name = entry.pw_name;
  bool there = false;
  ::setutxent();
  while (const utmpx* one = ::getutxent())
    there = there || (one->ut_type == USER_PROCESS &&
                      name == std::string(one->ut_user, ::strnlen(one->ut_user, sizeof one->ut_user)));
  ::endutxent();
  return there;
}

bool owns_x_server(unsigned user) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/tmp/.X11-unix", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat facts {};
    if (::stat(entry->path().c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode) && facts.st_uid == user)
      return true;
  }
  return false;
}

}  // namespace

bool is_logged_in(unsigned user) {
  return ::sd_uid_get_sessions(user, 0, nullptr) > 0 || in_login_record(user) || owns_x_server(user);
}

std::optional<Duration> Agents::Told::unused(SteadyTime now) const {
  std::optional<Duration> least;
  for (const auto& input : report.inputs) {
    const Duration idle =
        input.active ? Duration{0} : input.idle + std::chrono::duration_cast<Duration>(now - at);
    if (!least || idle < *least) least = idle;
  }
  if (!least && report.locked.value_or(false)) return std::chrono::hours{1};  // who locks a screen leaves it
  return least;
}

Agents::Agents(std::vector<AgentPlace> places, Admits admits)
    : admits_(admits ? std::move(admits) : Admits(is_logged_in)) {
  for (AgentPlace& place : places) {
    auto listener = listen_locally(place.path, place.everybody ? 0666 : 0600);
    if (listener.ok())
      places_.push_back({std::move(place), std::move(listener).value()});
    else
      spdlog::warn("desktop sessions cannot tell that they are used: {}", listener.error().message);
  }
}

Agents::~Agents() {
  std::error_code ignored;  // it may have been removed by hand
  for (const Place& place : places_) std::filesystem::remove(place.place.path, ignored);
}

std::vector<io::Waitable> Agents::waitables() const {
  std::vector<io::Waitable> all;
  for (const Place& place : places_) all.emplace_back(place.listener.get());
  for (const Caller& caller : callers_) all.emplace_back(caller.connection.get());
  return all;
}

bool Agents::take_new(Place& place, SteadyTime now) {
  bool news = false;
  while (true) {
    io::Descriptor connection = accept_locally(place.listener);
    if (!connection.valid()) return news;
    const auto user = user_of(connection.get());
    const bool own = user && (*user == ::geteuid() || *user == 0);
    if (!user || (!own && !(place.place.everybody && admits_(*user)))) continue;
    const auto of_user = std::count_if(callers_.begin(), callers_.end(), [&](const Caller& caller) {
      return caller.told.user == static_cast<unsigned>(*user);
    });
    if (callers_.size() >= callers_max || static_cast<std::size_t>(of_user) >= callers_of_user_max) continue;
    Caller caller;
    caller.connection = std::move(connection);
    caller.told.user = *user;
    caller.told.at = caller.second = now;
    callers_.push_back(std::move(caller));
    news = true;
  }
}

bool Agents::take_line(Caller& caller, std::string_view line, SteadyTime now) {
  if (now - caller.second >= std::chrono::seconds{1}) {
    caller.second = now;
    caller.reports = 0;
  }
  if (++caller.reports > reports_per_second_max) {
    spdlog::warn("an agent of user {} was dropped: it speaks without end", caller.told.user);
    return false;
  }
  if (caller.offered > 0 && agent::is_answer(line)) {
    const auto answer = agent::decode_answer(line);
    if (answer.ok()) take_answer(caller, *answer);
    return answer.ok();
  }
  auto report = agent::decode(line);
  if (!report.ok()) {
    spdlog::warn("an agent of user {} was dropped: {}", caller.told.user, report.error().message);
    return false;
  }
  if (report->inputs.empty()) forget(caller, now);
  caller.told.report = std::move(report).value();
  caller.told.at = now;
  caller.spoke = true;
  return true;
}

void Agents::take_answer(Caller& caller, const agent::NoticeAnswer& answer) {
  caller.answered = caller.answered || answer.number == caller.offered;
  if (!offered_ || answer.number != offered_->number) return;
  if (answer.shown) {
    spdlog::info("user {} was told: {}", caller.told.user, offered_->text);
    shown_ = offered_->number;
    offered_.reset();
  } else {
    spdlog::info("a session of user {} cannot show a notice: {}", caller.told.user, answer.why);
  }
}

// One at a time: a notice is not shown twice.
void Agents::pass_on(SteadyTime now) {
  if (!offered_) return;
  Caller* best = nullptr;
  for (Caller& caller : callers_) {
    const bool given = caller.offered == offered_->number && now - caller.offered_at < offer_again;
    if (given && !caller.answered && now - caller.offered_at < answer_patience) return;
    const agent::SessionReport& report = caller.told.report;
    if (given || !caller.spoke || !report.takes_notices || report.locked.value_or(false)) continue;
    const auto unused = [now](const Caller& one) { return one.told.unused(now).value_or(Duration::max()); };
    if (best == nullptr || unused(caller) < unused(*best)) best = &caller;
  }
  if (best == nullptr) return;
  best->offered = offered_->number;
  best->offered_at = now;
  best->answered = false;
  const std::string line = agent::encode(*offered_) + "\n";
  // Half a line cannot be taken back: reading ends with the connection.
  if (::send(best->connection.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(line.size()))
    ::shutdown(best->connection.get(), SHUT_RDWR);
}

bool Agents::read(Caller& caller, SteadyTime now, bool& news) {
  std::array<char, 4096> bytes{};
  for (std::size_t turn = 0; turn < reads_per_turn_max; ++turn) {
    const ssize_t got = ::recv(caller.connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    news = true;
    if (got <= 0) return false;
    caller.line.append(bytes.data(), static_cast<std::size_t>(got));
    for (auto end = caller.line.find('\n'); end != std::string::npos; end = caller.line.find('\n')) {
      if (!take_line(caller, std::string_view(caller.line).substr(0, end), now)) return false;
      caller.line.erase(0, end + 1);
    }
    if (caller.line.size() > agent::report_line_bytes_max) return false;
  }
  return true;
}

// Who was at it a moment ago was here a moment ago, whoever says so no more.
void Agents::forget(const Caller& caller, SteadyTime now) {
  if (!caller.spoke) return;
  const auto unused = caller.told.unused(now);
  if (!unused || caller.told.report.inputs.empty()) return;
  const SteadyTime last = now - *unused;
  if (!left_ || last > *left_) left_ = last;
}

bool Agents::serve(SteadyTime now) {
  bool news = false;
  for (Place& place : places_) news = take_new(place, now) || news;
  std::erase_if(callers_, [&](Caller& caller) {
    if (read(caller, now, news)) return false;
    forget(caller, now);
    return true;
  });
  pass_on(now);
  return news;
}

std::vector<Agents::Told> Agents::told(SteadyTime now) const {
  std::vector<Told> all;
  for (const Caller& caller : callers_) {
    if (!caller.spoke) continue;
    all.push_back(caller.told);
    if (now - caller.told.at <= 2 * agent::report_interval) continue;
    agent::SessionReport& report = all.back().report;
    report.inputs.clear();
    report.locked.reset();
    report.missing = {"the agent of a session does not answer"};
  }
  return all;
}

}  // namespace gleaner::platform
