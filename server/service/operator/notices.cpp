#include "server/service/operator/notices.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "server/service/core/model.h"
#include "shared/base/figures.h"
#include "shared/base/thread_name.h"
#include "shared/json/text.h"
#include "shared/protocol/text.h"

namespace gleaner::service {
namespace {

using protocol::ProblemState;

constexpr std::size_t waiting_max = 100;  // more are said in the log alone
constexpr int attempts_max = 5;
constexpr auto first_pause = std::chrono::seconds{5};  // then twice as long, each time
constexpr auto mail_timeout = std::chrono::seconds{30};
// After a start, hosts need this long to be heard of again.
constexpr auto fleet_patience = std::chrono::minutes{10};

std::string line_of(const std::string& text) {
  return protocol::clean_line(text, 200);
}

// A header's text; what is not ASCII as encoded words (RFC 2047), none of which cuts a character.
std::string header_text(const std::string& text) {
  constexpr std::size_t word_max = 60;  // 75 with what is around it
  const auto plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
  if (std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out, word;
  const auto end_word = [&] {
    if (!word.empty()) out += (out.empty() ? "=?utf-8?Q?" : "\r\n =?utf-8?Q?") + word + "?=";
    word.clear();
  };
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    const bool begins = (byte & 0xc0) != 0x80;
    if (begins && word.size() > word_max - 12) end_word();  // the longest character takes twelve
    if (each == ' ')
      word += '_';
    else if (byte < 0x80 && std::isalnum(byte) != 0)
      word += each;
    else
      word += fmt::format("={:02X}", byte);
  }
  end_word();
  return out;
}

Status wait_for(io::Process& process, std::string_view input) {
  const auto end = system_clock().steady() + mail_timeout;
  while (!input.empty()) {
    TRY_ASSIGN(const std::size_t written, process.write_some(input));
    input.remove_prefix(written);
    if (system_clock().steady() > end) return Error{ErrorKind::unavailable, "it does not read its input"};
    if (written == 0) std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  process.close_input();
  while (true) {
    Bytes ignored;
    (void)process.read_some(ignored, 4096);
    if (const auto exit = process.poll_exit()) {
      if (exit->well()) return {};
      return Error{ErrorKind::unavailable, exit->describe() + ": " + line_of(process.error_tail())};
    }
    if (system_clock().steady() > end) return Error{ErrorKind::unavailable, "it does not end"};
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

}  // namespace

std::string without_numbers(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return text;
}

std::vector<Notice> NoticeWatch::look(const ProjectSnapshot& snapshot) {
  std::vector<Notice> notices;
  look_at_problems(snapshot, notices);
  look_at_fleet(snapshot.status, notices);
  look_at_warnings(snapshot.status, notices);
  for (Notice& each : notices) each.at = snapshot.status.now;
  first_ = false;
  return notices;
}

void NoticeWatch::look_at_problems(const ProjectSnapshot& snapshot, std::vector<Notice>& notices) {
  std::map<ProblemId, ProblemState> states;
  for (const auto& info : snapshot.problems) {
    states[info.id] = info.state;
    const auto before = states_.find(info.id);
    const bool changed = before == states_.end() || before->second != info.state;
    if (first_ || !changed) continue;
    const std::string name = fmt::format("Problem {} ({})", info.id.value, info.name);
    if (info.state == ProblemState::finished)
      notices.push_back({"problem-finished",
                         name + " is finished",
                         fmt::format("{} accepted in {}, {} wasted.\nDownload it with: gleaner-admin problem "
                                     "result {}",
                                     counted(info.items, "item"), duration_text(info.elapsed_seconds),
                                     percent_text(std::max(0.0, info.wasted), 1), info.id.value),
                         {}});
    if (info.state == ProblemState::failed)
      notices.push_back({"problem-failed", name + " failed", info.message, {}});
    if (info.state == ProblemState::stopped)
      notices.push_back({"problem-stopped", name + " is stopped", info.message, {}});
  }
  states_ = std::move(states);
}

void NoticeWatch::look_at_fleet(const protocol::ServerStatus& status, std::vector<Notice>& notices) {
  const bool silent = status.hosts > 0 && status.hosts_active == 0 && status.problems_open > 0 &&
                      status.now - status.started_at >= fleet_patience;
  if (silent && !silent_)
    notices.push_back({"fleet-silent",
                       "No host has reported for 5 minutes. Computing has stopped.",
                       "This concerns " + counted(status.hosts, "host") + " and " +
                           counted(status.problems_open, "unfinished problem") + ".",
                       {}});
  if (!silent && silent_ && status.hosts_active > 0)
    notices.push_back(
        {"fleet-back",
         "Hosts report again",
         "Online: " + counted(status.hosts_active, "host") + " of " + count_text(status.hosts) + ".",
         {}});
  silent_ = silent;
}

void NoticeWatch::look_at_warnings(const protocol::ServerStatus& status, std::vector<Notice>& notices) {
  std::set<std::string> warned;
  for (const std::string& warning : status.warnings) {
    std::string key = without_numbers(warning);
    if (!warned_.contains(key)) notices.push_back({"warning", line_of(warning), warning, {}});
    warned.insert(std::move(key));
  }
  warned_ = std::move(warned);
}

std::string mail_of(const Notice& notice, const std::string& project, const std::string& to) {
  return fmt::format(
      "To: {}\r\nSubject: {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} +0000\r\nAuto-Submitted: auto-generated\r\n"
      "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: "
      "8bit\r\n\r\n"
      "{}\r\n{}{}\r\n-- \r\n{}\r\n",
      to, header_text(line_of("[" + project + "] " + notice.subject)),
      fmt::gmtime(std::chrono::system_clock::to_time_t(notice.at)), line_of(notice.subject),
      clean_text(notice.text, limits::message_length_max), notice.text.empty() ? "" : "\r\n",
      line_of(project));
}

std::string webhook_body_of(const Notice& notice, const std::string& project) {
  return json::write({{"version", 1},
                      {"kind", notice.kind},
                      {"project", project},
                      {"subject", notice.subject},
                      {"text", notice.text},
                      {"at", to_rfc3339(notice.at)}});
}

Notices::Notices(const Configuration& configuration, io::ProcessRunner& processes, Connect connect)
    : project_(configuration.name),
      mail_(configuration.notices_mail),
      webhook_(configuration.notices_webhook),
      sendmail_(configuration.sendmail),
      processes_(processes),
      connect_(std::move(connect)) {
  if (!mail_.empty() || !webhook_.empty()) thread_ = std::thread([this] { send_all(); });
}

Notices::~Notices() {
  stop();
}

void Notices::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Notices::look(const ProjectSnapshot& snapshot) {
  if (mail_.empty() && webhook_.empty()) return;
  auto notices = watch_.look(snapshot);
  const std::lock_guard lock(mutex_);
  for (Notice& each : notices) {
    if (waiting_.size() == waiting_max) {
      spdlog::warn("too many notices wait, one is not sent: {}", each.subject);
      continue;
    }
    waiting_.push_back(std::move(each));
  }
  wake_.notify_all();
}

void Notices::send_all() {
  name_this_thread("notices");
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) break;
    const Notice notice = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    send(notice);
    lock.lock();
  }
  for (const Notice& each : waiting_) spdlog::warn("not sent before the end: {}", each.subject);
}

void Notices::send(const Notice& notice) {
  if (!mail_.empty() && !try_again("mail to " + mail_, [&] { return mail(notice); })) return;
  if (!webhook_.empty()) try_again("the webhook", [&] { return post(notice); });
}

bool Notices::try_again(const std::string& what, const std::function<Status()>& attempt) {
  Duration pause = first_pause;
  for (int i = 1;; ++i, pause *= 2) {
    const Status done = attempt();
    if (done.ok()) return true;
    spdlog::warn("a notice does not reach {}{}: {}", what, i < attempts_max ? "" : " and is given up",
                 done.error().message);
    if (i == attempts_max) return true;
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, pause, [this] { return stopped_; })) return false;
  }
}

Status Notices::mail(const Notice& notice) {
  io::ProcessSpec spec;
  spec.arguments = {sendmail_, "-t", "-oi"};  // to whom: its header says
  spec.environment = {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}};
  TRY_ASSIGN(const auto process, processes_.start(spec));
  return wait_for(*process, mail_of(notice, project_, mail_));
}

Status Notices::post(const Notice& notice) {
  io::HttpRequest request;
  request.method = "POST";
  request.url = webhook_;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = webhook_body_of(notice, project_);
  TRY_ASSIGN(const io::HttpReply reply, connect_()->send(request));
  if (reply.status >= 200 && reply.status < 300) return {};
  return Error{ErrorKind::unavailable, fmt::format("it answered {}", reply.status)};
}

}  // namespace gleaner::service
