// What is told without being asked for: problems' ends, a silent fleet, warnings; to whom, and how often.
#include "server/service/operator/notices.h"

#include <atomic>
#include <fstream>

#include "shared/json/text.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::ProblemState;

namespace {

ProjectSnapshot a_snapshot() {
  ProjectSnapshot snapshot;
  snapshot.status.hosts = snapshot.status.hosts_active = 3;
  snapshot.status.problems_open = 1;
  snapshot.status.started_at = Timestamp{std::chrono::hours{1}};
  snapshot.status.now = Timestamp{std::chrono::hours{2}};
  protocol::ProblemInfo problem;
  problem.id = ProblemId{7};
  problem.name = "primes";
  problem.state = ProblemState::running;
  snapshot.problems.push_back(problem);
  return snapshot;
}

std::vector<std::string> kinds(const std::vector<Notice>& notices) {
  std::vector<std::string> all;
  for (const Notice& each : notices) all.push_back(each.kind);
  return all;
}

using Kinds = std::vector<std::string>;

// Answers what it is told to, and keeps what was sent.
class Hook final : public io::HttpClient {
 public:
  Hook(std::vector<int>& statuses, std::vector<std::string>& bodies, std::mutex& mutex)
      : statuses_(statuses), bodies_(bodies), mutex_(mutex) {}
  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    const std::lock_guard lock(mutex_);
    bodies_.push_back(request.body);
    io::HttpReply reply;
    reply.status = statuses_.empty() ? 200 : statuses_.front();
    if (!statuses_.empty()) statuses_.erase(statuses_.begin());
    return reply;
  }

 private:
  std::vector<int>& statuses_;
  std::vector<std::string>& bodies_;
  std::mutex& mutex_;
};

}  // namespace

TEST_CASE("an end is told once, and not what had ended before the first look") {
  NoticeWatch watch;
  ProjectSnapshot snapshot = a_snapshot();
  auto& problem = snapshot.problems[0];
  problem.state = ProblemState::failed;
  CHECK(watch.look(snapshot).empty());
  problem.state = ProblemState::running;
  CHECK(watch.look(snapshot).empty());
  problem.state = ProblemState::finished;
  const auto told = watch.look(snapshot);
  REQUIRE(kinds(told) == Kinds{"problem-finished"});
  CHECK(told[0].subject == "Problem 7 (primes) is finished");
  CHECK(told[0].at == snapshot.status.now);
  CHECK(watch.look(snapshot).empty());
  problem.state = ProblemState::paused;
  CHECK(watch.look(snapshot).empty());  // by an administrator
  problem.state = ProblemState::running;
  CHECK(watch.look(snapshot).empty());
  problem.state = ProblemState::stopped;
  problem.message = "stopped: it fails on most hosts";
  CHECK(kinds(watch.look(snapshot)) == Kinds{"problem-stopped"});
  problem.state = ProblemState::failed;
  CHECK(kinds(watch.look(snapshot)) == Kinds{"problem-failed"});
}

TEST_CASE("a fleet that falls silent is told of, and that it is back; not just after a start") {
  NoticeWatch watch;
  ProjectSnapshot snapshot = a_snapshot();
  auto& status = snapshot.status;
  status.hosts_active = 0;
  status.now = status.started_at + std::chrono::minutes{9};
  CHECK(watch.look(snapshot).empty());
  status.now += std::chrono::minutes{2};
  CHECK(kinds(watch.look(snapshot)) == Kinds{"fleet-silent"});
  CHECK(watch.look(snapshot).empty());
  status.hosts_active = 1;
  CHECK(kinds(watch.look(snapshot)) == Kinds{"fleet-back"});
  status.hosts_active = 0;
  status.problems_open = 0;  // nothing waits for them
  CHECK(watch.look(snapshot).empty());
}

TEST_CASE("a warning is told when it comes up, not each time its figures change") {
  NoticeWatch watch;
  ProjectSnapshot snapshot = a_snapshot();
  snapshot.status.warnings = {"the disk will be full in about 30 hours"};
  CHECK(kinds(watch.look(snapshot)) == Kinds{"warning"});
  snapshot.status.warnings = {"the disk will be full in about 29 hours",
                              "the TLS certificate runs out on 2030"};
  const auto told = watch.look(snapshot);
  REQUIRE(told.size() == 1);
  CHECK(says(told[0].text, "TLS"));
  snapshot.status.warnings.clear();
  CHECK(watch.look(snapshot).empty());
  snapshot.status.warnings = {"the disk will be full in about 5 hours"};
  CHECK(watch.look(snapshot).size() == 1);
}

TEST_CASE("nothing that a name holds becomes a line of a mail's header, or ends the webhook's text") {
  Notice notice{"problem-failed", "Problem 7 (a\r\nBcc: eve@example.org) failed", "\"quoted\"\n",
                Timestamp{}};
  const std::string mail = mail_of(notice, "Our\nproject", "ann@example.org");
  const std::string head = mail.substr(0, mail.find("\r\n\r\n"));
  CHECK(head.find("\nBcc") == std::string::npos);
  CHECK(head.find("\nproject") == std::string::npos);
  CHECK(says(head, "To: ann@example.org\r\n"));
  CHECK(says(head, "Date: Thu, 01 Jan 1970 00:00:00 +0000\r\n"));
  const json::Value body = json::parse_or_null(webhook_body_of(notice, "Our\nproject"));
  CHECK(body["kind"].string() == "problem-failed");
  CHECK(body["text"].string() == notice.text);
  CHECK(body["project"].string() == "Our\nproject");
}

TEST_CASE("a subject that is not ASCII is made of encoded words, none too long") {
  Notice notice{"problem-finished", "Problem 7 (n\u00fameros", "", Timestamp{}};
  for (int i = 0; i < 30; ++i) notice.subject += "\u20ac ";
  const std::string mail = mail_of(notice, "Ours", "ann@example.org");
  const std::string head = mail.substr(0, mail.find("\r\n\r\n"));
  CHECK(says(head, "Subject: =?utf-8?Q?=5BOurs=5D_Problem_7_=28n=C3=BAmeros"));
  CHECK(std::all_of(head.begin(), head.end(), [](unsigned char c) { return c < 0x80; }));
  for (std::size_t at = 0; (at = head.find("=?utf-8?Q?", at)) != std::string::npos; ++at) {
    CHECK(head.find("?=", at + 10) - at < 75);
    CHECK_FALSE(
        (head[at + 10] == '=' && (head[at + 11] == '8' || head[at + 11] == '9')));  // no character is cut
  }
}

TEST_CASE("a webhook that is busy is tried again, and the stop does not wait for it") {
  Configuration configuration;
  configuration.notices_webhook = "https://hook.example.org/";
  std::mutex mutex;
  std::vector<int> statuses{503};
  std::vector<std::string> bodies;
  Notices notices(configuration, io::real_processes(),
                  [&] { return std::make_unique<Hook>(statuses, bodies, mutex); });
  ProjectSnapshot snapshot = a_snapshot();
  notices.look(snapshot);
  snapshot.problems[0].state = ProblemState::finished;
  notices.look(snapshot);
  const auto sent = [&] {
    const std::lock_guard lock(mutex);
    return bodies.size();
  };
  const auto end = system_clock().steady() + std::chrono::seconds{60};
  while (sent() < 2 && system_clock().steady() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  REQUIRE(sent() == 2);
  CHECK(bodies[0] == bodies[1]);
  {
    const std::lock_guard lock(mutex);
    statuses = {503, 503, 503, 503, 503};
  }
  snapshot.problems[0].state = ProblemState::running;
  notices.look(snapshot);
  snapshot.problems[0].state = ProblemState::failed;
  notices.look(snapshot);
  while (sent() < 3 && system_clock().steady() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  const auto before = system_clock().steady();
  notices.stop();
  CHECK(system_clock().steady() - before < std::chrono::seconds{4});
  CHECK(sent() == 3);
}

TEST_CASE("a calendar that is wrong for minutes, or at the start, deletes no problem") {
  World world([](Configuration& configuration) { configuration.keep_ended_days = 90; });
  world.add_application();
  const ProblemId problem = world.add_problem(12);
  (void)must(world.change(problem, Problems::Action::cancel));
  world.clock().advance(std::chrono::hours{48});
  world.tick();
  const auto is_there = [&] {
    world.service().problems().remove_old();
    world.settle();
    return World::wait<protocol::ProblemInfo>(
               [&](auto done) { world.service().problems().show(problem, std::move(done)); })
        .ok();
  };
  CHECK(is_there());
  world.clock().jump_calendar(std::chrono::hours{24 * 150});
  for (int minute = 0; minute < 11; ++minute) {
    CHECK(is_there());
    world.clock().advance(std::chrono::minutes{1});
    world.tick();
  }
  world.restart();  // with the wrong date
  CHECK(is_there());
  world.clock().advance(std::chrono::hours{23});
  CHECK(is_there());
  world.clock().advance(std::chrono::hours{2});  // it seems to be right
  CHECK(!is_there());
}

TEST_CASE("problems that ended long ago are deleted as the settings say, and leave an act each") {
  World world([](Configuration& configuration) { configuration.keep_ended_days = 30; });
  world.add_application();
  const ProblemId old = world.add_problem(12);
  const ProblemId open = world.add_problem(12);
  (void)must(world.change(old, Problems::Action::cancel));
  world.clock().advance(std::chrono::hours{29 * 24});
  world.service().problems().remove_old();
  world.settle();
  CHECK(world.show(old).state == ProblemState::cancelled);
  world.clock().advance(std::chrono::hours{2 * 24});
  world.service().problems().remove_old();
  world.settle();
  const auto found = World::wait<protocol::ProblemInfo>(
      [&](auto done) { world.service().problems().show(old, std::move(done)); });
  CHECK(found.error().kind == ErrorKind::not_found);
  CHECK(world.show(open).id == open);
  const auto acts = must(
      World::wait<protocol::AuditPage>([&](auto done) { world.service().audit().page(0, std::move(done)); }));
  CHECK(acts.acts.back().action == "problem expire");
  CHECK(acts.acts.back().object == std::to_string(old.value));
}
