// The live server and the simulator believe the same: what happened to a live stage is told to a simulated
// server, which must decide on the same audits and verdicts, line by line of the decision log.
#include <algorithm>
#include <string>
#include <vector>

#include "server/policy/dispatch/log.h"
#include "server/service/work/trust.h"
#include "tests/unit/service/world.h"
#include "tools/simulator/results.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

struct Liar {
  HostId host;
  std::int64_t honest = 0;  // items that it delivers right first
  std::string word;         // hosts with the same one give the same wrong answers
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (; !text.empty(); text.remove_prefix(text.find('\n') + 1))
    lines.emplace_back(text.substr(0, text.find('\n')));
  return lines;
}

// Hosts take units of one item and deliver them, until the problem is done or nobody gets any.
struct Live {
  World world{Hosts::strangers};
  ProblemId problem;
  ApplicationId application;
  std::vector<HostId> hosts;
  std::vector<std::int64_t> delivered;  // by each
  std::vector<Liar> liars;

  Live(int items, const std::string& validation, int hosts_wanted) {
    world.add_application();
    protocol::AddProblem request;
    request.application = "numbers";
    request.parameters = "{\"count\": " + std::to_string(items) + "}";
    request.strategy = "ss";
    request.validation = validation;
    problem = must(world.try_add_problem(request)).id;
    for (int number = 0; number < hosts_wanted; ++number)
      hosts.push_back(
          world.add_host("host" + std::to_string(number), "203.0.113." + std::to_string(number)).id);
    delivered.resize(hosts.size());
    application =
        look<ApplicationId>([&](auto& tx) { return tx.model.problems.at(problem).row.application; });
  }
  template <typename Found, typename Look>
  Found look(Look look) {
    return world.look<Found>([&](service::Transaction& tx) { return look(tx); });
  }
  // 0: right.
  [[nodiscard]] std::int64_t answer(HostId host, std::int64_t number) const {
    for (std::size_t i = 0; i < liars.size(); ++i)
      if (liars[i].host == host && number >= liars[i].honest)
        return 1 +
               std::find_if(liars.begin(), liars.end(),
                            [&](const Liar& liar) { return liar.word == liars[i].word; }) -
               liars.begin();
    return 0;
  }
  void run() {
    bool worked = true;
    while (worked && world.show(problem).state != protocol::ProblemState::finished) {
      worked = false;
      for (std::size_t i = 0; i < hosts.size(); ++i) worked = work(i) || worked;
    }
    world.tick();
  }
  bool work(std::size_t index) {
    const auto reply = must(world.work(hosts[index], world.work_request()));
    if (reply.grants.empty()) return false;
    const auto grant = must(protocol::decode<protocol::Grant>(reply.grants.front().payload));
    const std::int64_t given = answer(hosts[index], delivered[index]++);
    (void)must(
        world.commit(hosts[index], World::results(grant.unit, grant.range, true, [&](std::int64_t item) {
                       return std::to_string(given) + "-" + std::to_string(item);
                     })));
    world.settle();
    return true;
  }
  std::vector<std::string> log() {
    return lines_of(must(io::real_files().read(world.project().decisions(), 1 << 24)));
  }
};

// Segments are the live server's alone, which also takes the reliabilities of when a comparison began.
std::string comparable(const std::string& line) {
  auto read = must(policy::read_line(line));
  auto* entry = std::get_if<policy::LogEntry>(&read);
  auto* compared = entry == nullptr ? nullptr : std::get_if<policy::ComparedEvent>(&entry->event);
  if (compared == nullptr) return line;
  for (policy::Opinion& opinion : compared->opinions) {
    opinion.segment = {};
    opinion.reliability = 0.5;
  }
  return policy::line_of(*entry);
}

// A simulated server that is told what hosts did, and nothing that the live one decided.
struct Simulated {
  Live& live;
  policy::Validation validation;
  std::vector<std::string> log;
  policy::Project project;
  std::vector<HostId> refuted;
  simulator::Results results{project, [this](const policy::ProjectChanges& changes) {
                               refuted.insert(refuted.end(), changes.refuted.begin(), changes.refuted.end());
                             }};
  std::vector<std::int64_t> delivered;
  std::int64_t segments = 0;

  Simulated(Live& other, const std::string& validated, const std::vector<std::string>& lines)
      : live(other),
        validation(must(policy::parse_validation(validated))),
        project(std::get<policy::PlanRules>(must(policy::read_line(lines.front()))),
                {[this](const std::string& line) { log.push_back(line); }}),
        delivered(other.hosts.size()) {
    for (std::size_t line = 1; line < lines.size(); ++line) {
      const auto entry = std::get<policy::LogEntry>(must(policy::read_line(lines[line])));
      std::visit([&](const auto& event) { happen(event, entry.at); }, entry.event);
    }
  }
  template <typename Event>
  void happen(const Event& event, Timestamp at) {
    (void)project.dispatch().apply(event, at);
  }
  void happen(const policy::ProblemEvent& event, Timestamp at) {
    project.put_problem(live.problem, {live.application, validation});
    project.dispatch().apply(event, at);
  }
  void happen(const policy::BeginStageEvent& event, Timestamp at) {
    project.dispatch().apply(event, at);
    project.begin_stage(live.problem);
    for (std::size_t i = 0; i < live.hosts.size(); ++i)
      project.put_host(live.hosts[i], {.heard = at, .network = "203.0.113." + std::to_string(i)});
  }
  void happen(const policy::ComparedEvent&, Timestamp) {}  // decided
  void happen(const policy::StageHappened& happened, Timestamp at) {
    policy::RecordedStage& stage = *project.dispatch().stage(live.problem);
    const auto& event = happened.entry.event;
    const auto* left = std::get_if<policy::GiveBackEvent>(&event);
    if (const auto* commit = std::get_if<policy::CommitEvent>(&event)) {
      deliver(stage, *commit, at);
    } else if (!std::holds_alternative<policy::DisputeEvent>(event) &&
               !std::holds_alternative<policy::ResolveEvent>(event) &&
               !std::holds_alternative<policy::RejectEvent>(event) &&
               (left == nullptr || left->reason != "the host's results were found wrong")) {
      (void)stage.play(event, at);
    }
  }
  void deliver(policy::RecordedStage& stage, const policy::CommitEvent& event, Timestamp at) {
    policy::Changes changes;
    const auto outcome =
        stage.apply(policy::CommitEvent{event.host, event.unit, event.range, event.last}, at, changes);
    REQUIRE(outcome.refusal.empty());
    const auto index =
        static_cast<std::size_t>(std::ranges::find(live.hosts, event.host) - live.hosts.begin());
    results.deliver(live.problem, event.range, event.host, live.answer(event.host, delivered.at(index)++));
    results.counted(live.problem, event.host, outcome, draw("segment", ++segments), at);
    if (stage.view().complete())
      (void)results.may_combine(live.problem, draw("closing", live.problem.value), at);
  }
  std::uint64_t draw(const char* what, std::int64_t number) {
    return live.look<std::uint64_t>(
        [&](service::Transaction& tx) { return service::draw_for(tx.model, what, number); });
  }
};

}  // namespace

TEST_CASE("live and simulated, the same events have the same audits, verdicts and standings") {
  const std::string validation = GENERATE("none", "spot:0.2", "quorum:2", "adaptive");
  const std::string kind = GENERATE("nobody", "always", "sleeper", "pair");
  CAPTURE(validation, kind);
  Live live(60, validation, 6);
  if (kind == "always") live.liars = {{live.hosts[1], 0, "a"}};
  if (kind == "sleeper") live.liars = {{live.hosts[1], 5, "a"}};
  if (kind == "pair") live.liars = {{live.hosts[1], 3, "a"}, {live.hosts[4], 3, "a"}};
  live.run();
  std::vector<std::string> lines = live.log();
  Simulated simulated(live, validation, lines);
  for (auto* log : {&lines, &simulated.log})
    std::transform(log->begin(), log->end(), log->begin(), comparable);
  REQUIRE(simulated.log.size() == lines.size());
  for (std::size_t line = 0; line < lines.size(); ++line) REQUIRE(simulated.log[line] == lines[line]);
  for (const HostId host : live.hosts) {
    const auto standing = live.look<policy::Standing>([&](service::Transaction& tx) {
      return tx.model.project->reputation().standing(host, live.application, tx.now);
    });
    const auto now = standing.at;
    CHECK(simulated.project.reputation().standing(host, live.application, now) == standing);
  }
  const bool lies_are_found = validation == "quorum:2" || validation == "adaptive";
  if (kind == "always" && lies_are_found) CHECK(simulated.refuted == std::vector<HostId>{live.hosts[1]});
  if (kind == "nobody") CHECK(simulated.refuted.empty());
}
