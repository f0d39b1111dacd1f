// A project's decision log: random runs of several problems through everything that goes wrong replay to the
// same decisions, event by event; a line that does not fit is named.
#include "server/policy/dispatch/replay.h"

#include <algorithm>

#include "server/policy/strategies.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tools/simulator/grid.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

const char* strategy_of(std::uint64_t seed) {
  const char* const strategies[] = {"gleaner", "wis", "mis", "fac2", "mm", "ef", "pn"};
  return strategies[seed % std::size(strategies)];
}

bool is_mapping(std::uint64_t seed) {
  const auto kind = policy::strategy_kind(strategy_of(seed));
  return kind.ok() && *kind == policy::StrategyKind::mapping;
}

GridInstance random_instance(std::uint64_t seed) {
  Random random(seed);
  GridInstance instance;
  instance.seed = seed;
  instance.sizing = strategy_of(seed);
  const auto hosts = random.between(2, 8);
  for (std::int64_t i = 0; i < hosts; ++i) {
    GridHost host;
    host.speed = 1 + random.uniform() * 9;
    host.slots = static_cast<int>(random.between(1, 3));
    host.watts = random.chance(0.5) ? 20 : 0;
    double at = random.uniform() * 20;
    for (int event = 0; event < 3; ++event) {
      const HostEventKind kinds[] = {HostEventKind::off, HostEventKind::on, HostEventKind::pause};
      host.events.push_back({at, kinds[event]});
      at += random.uniform() * 30;
    }
    instance.hosts.push_back(host);
  }
  instance.hosts.push_back({3, 2});  // one is always there
  const auto fill = [&](GridProblem& problem) {
    problem.items = random.between(50, 400);
    for (std::int64_t item = 0; item < problem.items; ++item)
      problem.costs.push_back(0.2 + 2 * random.uniform());
    problem.hints = random.chance(0.5);
    problem.checkpoint = random.chance(0.5);
    problem.weight = 0.5 + 2 * random.uniform();
    problem.priority = static_cast<int>(random.between(0, 1));
    problem.arrives_at = random.chance(0.5) ? random.uniform() * 60 : 0;
  };
  fill(instance);
  for (int i = 0; i < 2; ++i) fill(instance.more.emplace_back());
  instance.failure_chance = instance.loss_chance = 0.03;
  instance.loss_retry = 1;
  instance.restarts = {random.uniform() * 40, 80};
  instance.give_up_after = 5000;
  return instance;
}

std::vector<std::string> log_of(GridInstance instance) {
  std::vector<std::string> lines;
  instance.log = [&](const std::string& line) { lines.push_back(line); };
  REQUIRE(run_grid(instance).ok());
  return lines;
}

std::string mistake_of(const std::vector<std::string>& lines) {
  policy::ProjectReplay replay;
  for (const std::string& line : lines) {
    if (const Status status = replay.feed(line, "a.log"); !status.ok()) return status.error().message;
  }
  return replay.parting() ? "parted" : "";
}

}  // namespace

TEST_CASE("whole servers replay to the same decisions, event by event") {
  for (std::uint64_t seed = 1; seed <= 28; ++seed) {
    INFO("seed " << seed);
    const auto lines = log_of(random_instance(seed));
    policy::ProjectReplay replay;
    for (const std::string& line : lines) {
      const Status status = replay.feed(line, "a.log");
      INFO(line << "\n" << (status.ok() ? "" : status.error().message));
      REQUIRE(status.ok());
      if (replay.parting()) {
        INFO("logged " << replay.parting()->logged << "\nreplayed " << replay.parting()->replayed);
        REQUIRE_FALSE(replay.parting());
      }
    }
    const bool plans = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find(R"("dispatch":"planned")") != std::string::npos;
    });
    CHECK(plans == is_mapping(seed));
    CHECK(replay.events() > 50);
    CHECK(replay.decisions() > 20);
  }
}

TEST_CASE("what was decided otherwise is found where it parts") {
  auto lines = log_of(random_instance(1));
  const auto line =
      std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2), lines.end(),
                   [](const std::string& one) { return one.find("slot 0: unit") != std::string::npos; });
  REQUIRE(line != lines.end());
  line->replace(line->find("slot 0: unit"), 12, "slot 7: unit");
  CHECK(mistake_of(lines) == "parted");
}

TEST_CASE("a line that cannot be is an error with its number, never a crash") {
  const auto lines = log_of(random_instance(2));
  CHECK(mistake_of({lines[1]}) ==
        "a.log:1: gleaner_project_log: expected 1: is this a project's decision log?");
  CHECK(mistake_of({lines[0], "{"}) == "a.log:2: expected one JSON object on the line");
  CHECK(mistake_of({lines[0], R"({"at":1,"dispatch":"dance"})"})
            .starts_with("a.log:2: dispatch: expected one of problem, "));
  CHECK(mistake_of({lines[0], R"({"at":1,"dispatch":"work","host":0})"}).starts_with("a.log:2: host"));
  CHECK(mistake_of({lines[0], R"({"dispatch":"stage_event","problem":1,"event":{"at":1,"event":"tick"}})"}) ==
        "a.log:2: problem: expected one whose stage has begun");
  // Every field of every kind of line, left out or of another type.
  std::set<std::string> seen;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto from = lines[i].find("\"dispatch\":") + 12;
    if (!seen.insert(lines[i].substr(from, lines[i].find(',', from) - from)).second) continue;
    for (std::size_t at = 0; at + 1 < lines[i].size(); at += 3) {
      std::vector<std::string> damaged(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      damaged.back()[at] = damaged.back()[at] == '1' ? '"' : '1';
      static_cast<void>(mistake_of(damaged));
    }
  }
  CHECK(seen.size() >= 6);
}
