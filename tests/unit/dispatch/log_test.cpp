// The decision log's lines: what is written is read back to the same, what stages are told replays to the
// same decisions, and what does not fit is named with its line.
#include "server/policy/dispatch/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "server/policy/dispatch/replay.h"
#include "server/policy/journal/entry_fields.h"
#include "tests/catch.h"
#include "tools/simulator/grid.h"

using namespace gleaner;
using namespace gleaner::policy;
using simulator::GridHost;
using simulator::GridInstance;
using simulator::HostEventKind;

namespace {

constexpr ProblemId the_problem{1};

std::vector<std::string> lines_of(GridInstance instance) {
  std::vector<std::string> lines;
  instance.log = {[&](const std::string& line) { lines.push_back(line); }};
  REQUIRE(run_grid(instance).ok());
  return lines;
}

GridInstance troubled(std::uint64_t seed) {
  GridInstance instance;
  instance.items = 300;
  for (int i = 0; i < 300; ++i) instance.costs.push_back(0.5 + 0.01 * (i % 97));
  instance.hosts = {{10}, {5}, {2}, {1}};
  instance.hosts[0].events = {{3, HostEventKind::off}, {9, HostEventKind::on}};
  instance.hosts[1].events = {{5, HostEventKind::pause}};
  instance.hosts[2].slots = 2;
  instance.failure_chance = 0.02;
  instance.loss_chance = 0.05;
  instance.loss_retry = 1;
  instance.restarts = {4.5};
  instance.seed = seed;
  return instance;
}

Status feed(ProjectReplay& replay, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (replay.parting()) return {};
    TRY(replay.feed(line, "a.log"));
  }
  return {};
}

std::string fault_of(const std::vector<std::string>& lines) {
  ProjectReplay replay;
  const Status status = feed(replay, lines);
  return status.ok() ? "" : status.error().message;
}

void check_replays(const std::vector<std::string>& lines, ProjectReplay& replay) {
  const Status status = feed(replay, lines);
  INFO((status.ok() ? "" : status.error().message));
  REQUIRE(status.ok());
  if (replay.parting()) {
    INFO("line " << replay.parting()->line << "\n"
                 << replay.parting()->logged << "\n"
                 << replay.parting()->replayed);
    CHECK_FALSE(replay.parting());
  }
}

std::string again(const std::string& line) {
  const auto read = read_line(line);
  INFO((read.ok() ? line : read.error().message));
  REQUIRE(read.ok());
  if (const auto* rules = std::get_if<PlanRules>(&*read)) return first_line(*rules);
  return line_of(std::get<LogEntry>(*read));
}

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

// A project with a problem of 10 items and a host, which asks for work.
struct Small {
  std::vector<std::string> lines;
  std::vector<std::string> needs = {};
  Timestamp now = Timestamp{} + std::chrono::hours{24};
  Dispatch dispatch{PlanRules{}, {[this](const std::string& line) { lines.push_back(line); }}};
  RecordedStage& stage;

  explicit Small(const StageSetup& setup = {.items = 10, .costs = {}, .sizing = "rts", .rules = {}},
                 std::vector<std::string> wanted = {})
      : needs(std::move(wanted)), stage(begin(setup)) {}
  RecordedStage& begin(const StageSetup& setup) {
    HostTerms host;
    host.performance = 1;
    dispatch.apply(HostEvent{HostId{1}, host}, now);
    ProblemTerms terms;
    terms.strategy = setup.sizing;
    terms.needs.platforms = {"any"};
    terms.needs.application = "numbers";
    terms.needs.capabilities = needs;
    dispatch.apply(ProblemEvent{the_problem, terms}, now);
    return dispatch.apply(BeginStageEvent{the_problem, setup}, now);
  }
  Served ask(std::optional<RelayOffer> relay = {}, std::vector<std::string> capabilities = {}) {
    WorkDemand demand;
    demand.offer.capabilities = std::move(capabilities);
    demand.host = HostId{1};
    demand.slots = {{0, true}};
    demand.units = {UnitId{1}};
    demand.relay = relay;
    return dispatch.apply(demand, now);
  }
};

// Where numbers stand, as JSON Pointers.
void collect_numbers(const boost::json::value& tree, const std::string& at, std::vector<std::string>& into) {
  if (tree.is_number()) into.push_back(at);
  if (const auto* object = tree.if_object())
    for (const auto& member : *object)
      collect_numbers(member.value(), at + "/" + std::string(member.key()), into);
  if (const auto* list = tree.if_array())
    for (std::size_t i = 0; i < list->size(); ++i)
      collect_numbers((*list)[i], at + "/" + std::to_string(i), into);
}

}  // namespace

TEST_CASE("a log replays to the same decisions, restarts of the server included") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const char* sizing : {"wis", "mis", "static"}) {
      GridInstance instance = troubled(seed);
      instance.sizing = sizing;
      INFO("seed " << seed << ", " << sizing);
      ProjectReplay replay;
      check_replays(lines_of(instance), replay);
      CHECK(replay.events() > 20);
      CHECK(replay.decisions() > 10);
      const Stage& stage = replay.dispatch()->stage(the_problem)->view();
      CHECK((stage.complete() || !stage.ledger().set_aside().empty()));
    }
  }
}

TEST_CASE("a log with items that were saved and gone on with elsewhere replays to the same decisions") {
  GridInstance instance = troubled(1);
  instance.checkpoint = true;
  instance.commit_seconds = 5;
  for (double& cost : instance.costs) cost *= 60;
  for (GridHost& host : instance.hosts)
    for (auto& event : host.events) event.at *= 60;
  const auto lines = lines_of(instance);
  const auto mention = [&](const std::string& text) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(mention(R"("event":"save")") > 10);
  CHECK(mention(" continues where host ") > 0);
  ProjectReplay replay;
  check_replays(lines, replay);
  CHECK(replay.dispatch()->stage(the_problem)->view().complete());
}

TEST_CASE("every line is read back to what was written") {
  for (const std::string& line : lines_of(troubled(3))) CHECK(again(line) == line);
}

TEST_CASE(
    "what relays ask, report and deliver, and what is leased to a relay's own stage, replays the same") {
  StageSetup below{.items = 100, .costs = {}, .sizing = "static", .rules = {}};
  below.elsewhere = true;
  Small small(below);
  RecordedStage& stage = small.stage;
  const Timestamp now = small.now;
  Changes changes;
  stage.apply(BringEvent{{10, 90}, 1000}, now);
  stage.apply(AdmitRelayEvent{HostId{1}}, now);
  REQUIRE(small.ask(RelayOffer{2.5, 40}).grants.size() == 1);
  const Range granted = stage.view().unit(UnitId{1})->range;
  REQUIRE(granted.size() > 20);
  const RelayReportEvent report{HostId{1}, RelayReport{UnitId{1}, 5, 20, 2.5, 40}};
  CHECK(stage.apply(report, now, changes).end == granted.end);
  const Range middle{granted.begin + 10, granted.begin + 15};
  CHECK(stage.apply(CommitEvent{HostId{1}, UnitId{1}, middle, false}, now, changes).refusal.empty());
  stage.apply(TakeAwayEvent{{granted.end - 5, granted.end}, "its parent cut it"}, now, changes);
  CHECK(stage.apply(report, now, changes).end == granted.end - 5);
  for (const std::string& line : small.lines) CHECK(again(line) == line);
  ProjectReplay replay;
  check_replays(small.lines, replay);
  CHECK(replay.dispatch()->stage(the_problem)->view().ledger().elsewhere().ranges() ==
        stage.view().ledger().elsewhere().ranges());
  // What cannot be is named, not done.
  const auto mistaken = [&](const std::string& what, const std::string& instead) {
    std::vector<std::string> changed = small.lines;
    for (std::string& line : changed)
      if (const auto at = line.find(what); at != std::string::npos) line.replace(at, what.size(), instead);
    return fault_of(changed);
  };
  CHECK(mistaken(R"("range":[10,90])", R"("range":[10,101])").find("range: expected [begin, end] within") !=
        std::string::npos);
  CHECK(mistaken(R"("rate":2.5,"slots":40,"answer")", R"("rate":2.5,"slots":0,"answer")")
            .find("rate and slots: expected") != std::string::npos);
}

TEST_CASE("a decision that was changed in the log is where the replay parts from it") {
  auto lines = lines_of(troubled(1));
  std::size_t changed = 0;
  for (std::size_t i = 0; i < lines.size() && changed == 0; ++i) {
    const auto at = lines[i].find("unit 9 of problem");
    if (at == std::string::npos) continue;
    lines[i].replace(at, 6, "unit 8");
    changed = i + 1;
  }
  REQUIRE(changed > 0);
  ProjectReplay replay;
  REQUIRE(feed(replay, lines).ok());
  REQUIRE(replay.parting());
  CHECK(replay.parting()->line == static_cast<std::int64_t>(changed));
  CHECK(replay.parting()->logged.find("unit 8") != std::string::npos);
  CHECK(replay.parting()->replayed.find("unit 9") != std::string::npos);
}

TEST_CASE("verdicts are judged anew from the opinions and who agrees") {
  ComparedEvent event{the_problem,
                      {3, 5},
                      {{HostId{1}, SegmentId{17}, 0.9},
                       {HostId{2}, SegmentId{19}, 0.9},
                       {HostId{3}, SegmentId{21}, 0.9, false, 4, true}},
                      {}};
  event.terms.agree_min = 2;
  event.verdict = judge(
      event.opinions, [](std::size_t a, std::size_t b) { return (a < 2) == (b < 2); }, event.terms);
  REQUIRE(event.verdict.kind == VerdictKind::decided);
  Small small;
  small.dispatch.apply(event, small.now);
  const std::string line = small.lines.back();
  CHECK(line.find(R"("classes":[0,0,1],"answer":"decided: right [0, 1], wrong [2])") != std::string::npos);
  CHECK(again(line) == line);
  ProjectReplay replay;
  check_replays(small.lines, replay);
  CHECK(replay.decisions() == 1);
  small.lines.back() = with(line, "wrong [2]", "wrong [0]");
  ProjectReplay other;
  REQUIRE(feed(other, small.lines).ok());
  CHECK(other.parting());
  const auto mistaken = [&](const std::string& what, const std::string& instead) {
    small.lines.back() = with(line, what, instead);
    return fault_of(small.lines);
  };
  CHECK(mistaken("[0,0,1]", "[0,0]") == "a.log:5: expected one opinion or more, and a class of each");
  CHECK(mistaken("0.9,", "1.5,") == "a.log:5: opinions[0]: expected a reliability between 0 and 1");
  CHECK(mistaken("\"terms\":[100.0", "\"terms\":[0.0").find("a.log:5: terms: expected odds above 0") == 0);
}

TEST_CASE("a log of another version, or of a kind that is no more, is refused with a reason") {
  Small small;
  const auto mistaken = [&](const std::string& what, const std::string& instead) {
    auto lines = small.lines;
    lines.back() = with(lines.back(), what, instead);
    return fault_of(lines);
  };
  CHECK(mistaken("\"gleaner_stage_log\":3", "\"gleaner_stage_log\":2")
            .find("a.log:4: setup: expected gleaner_stage_log 3, got 2: rules of another version") == 0);
  CHECK(mistaken("\"fit\":", "\"other\":") == "a.log:4: setup.rules.fit: is missing");
  for (const char* former : {R"({"gleaner_stage_log":3,"items":10})", R"({"gleaner_verdict_log":1})"})
    CHECK(fault_of({former}).find("cannot be replayed: name the project's, decisions/project.jsonl") !=
          std::string::npos);
  CHECK(fault_of({R"({"gleaner_project_log":2,"heartbeat":60.0,"unit_maximum":1200.0})"})
            .find("a.log:1: gleaner_project_log: expected") == 0);
}

TEST_CASE("every mistake in a log is named with its line and key") {
  Small small;
  Changes changes;
  const auto mistaken = [&](const std::string& what, const std::string& instead) {
    auto lines = small.lines;
    lines.back() = with(lines.back(), what, instead);
    return fault_of(lines);
  };
  CHECK(mistaken("\"items\":10", "\"items\":-1") ==
        "a.log:4: setup.items: expected a whole number from 0 to 1000000000000000");
  CHECK(mistaken("\"items\":10", "\"items\":10,\"costs\":[1.0]") ==
        "a.log:4: costs: expected 10, one an item, got 1");
  CHECK(mistaken("\"rts\"", "\"abc\"").find("a.log:4: strategy: ") == 0);
  CHECK(mistaken("\"split\"", "\"abc\"").find("a.log:4: setup: ") == 0);
  REQUIRE(small.ask().grants.size() == 1);
  CHECK(mistaken("[[0,true]]", "[[\"a\",true]]") == "a.log:5: slots[0].slot: expected a whole number");
  CHECK(mistaken("\"work\"", "\"ask\"").find("a.log:5: dispatch: expected one of problem, ") == 0);
  CHECK(mistaken("\"units\":[1]", "\"units\":[]") == "a.log:5: units: expected one for each slot");
  small.stage.apply(CommitEvent{HostId{1}, UnitId{1}, {0, 1}, true}, small.now, changes);
  CHECK(mistaken("\"range\":[0,1]", "\"range\":[0,11]") ==
        "a.log:6: range: expected [begin, end] within the stage's 10 items, got [0,11]");
  CHECK(mistaken("\"commit\"", "\"ask\"").find("a.log:6: event: expected one of report, ") == 0);
  CHECK(fault_of({"nonsense"}) == "a.log:1: expected one JSON object on the line");
  CHECK(fault_of({"{}"}) == "a.log:1: dispatch: is missing");
}

TEST_CASE(
    "a log that has no room for what a stage is restored from is not made that line, nor any after it") {
  const Timestamp now = Timestamp{} + std::chrono::hours{24};
  Unit unit;
  unit.id = unit.group = UnitId{1};
  unit.host = HostId{1};
  unit.range = {0, 1};
  HostRecord record;
  record.host = HostId{1};
  const StageSetup setup{.items = 10, .costs = {}, .sizing = "rts", .rules = {}};
  const BeginStageEvent event{the_problem, setup, RestoreEvent{{}, {unit}, {record}, {}, {}}};
  CHECK(line_of({now, event}).size() - line_of({now, BeginStageEvent{the_problem, setup}}).size() >=
        restore_bytes_least(1, 1));
  for (const std::size_t room : {std::size_t{100}, std::size_t{100'000}}) {
    std::vector<std::string> lines;
    bool over = false;
    Dispatch dispatch(PlanRules{}, {[&](const std::string& line) { lines.push_back(line); },
                                    [&](std::size_t bytes) { return !(over = over || bytes > room); }});
    Changes changes;
    dispatch.apply(event, now).apply(TickEvent{}, now, changes);
    CHECK(lines.size() == (room == 100 ? 1 : 3));  // the first line, the restoring, the tick
  }
}

TEST_CASE("what a stage cannot be restored from is named with its line and key") {
  const auto lines = lines_of(troubled(1));
  const auto restored = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("\"stored\":{") != std::string::npos;
  });
  REQUIRE(restored != lines.end());
  const auto restart =
      std::find_if(std::make_reverse_iterator(restored), lines.rend(),
                   [](const auto& line) { return line.find("gleaner_project_log") != std::string::npos; })
          .base() -
      1;
  std::vector<std::string> rest(restart, lines.end());
  const auto at = static_cast<std::size_t>(restored - restart);
  const boost::json::value event = boost::json::parse(*restored);
  REQUIRE(event.at_pointer("/stored/units").as_array().size() >= 2);
  REQUIRE(event.at_pointer("/stored/hosts").as_array().size() >= 2);
  const auto with_value = [&](const std::string& pointer, const boost::json::value& value) {
    boost::json::value changed = event;
    changed.at_pointer("/stored" + pointer) = value;
    std::vector<std::string> until(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(at));
    until.push_back(boost::json::serialize(changed));
    return fault_of(until);
  };
  const std::string line = fmt::format("a.log:{}: ", at + 1);
  CHECK(with_value("/units/0/id", event.at_pointer("/stored/units/0/id")).empty());
  CHECK(with_value("/units/0/id", 0) == line + "units[0].id: expected a number from 1 on, got 0");
  CHECK(with_value("/units/1/id", event.at_pointer("/stored/units/0/id"))
            .find(line + "units[1].id: expected a number that") == 0);
  CHECK(with_value("/units/0/host", 0) == line + "units[0].host: expected a number from 1 on, got 0");
  CHECK(with_value("/hosts/1/host", event.at_pointer("/stored/hosts/0/host"))
            .find(line + "hosts[1].host: expected a number that no other host has") == 0);
  CHECK(with_value("/hosts/0/slots", 0) == line + "hosts[0].slots: expected 1 to 100000, got 0");
  CHECK(with_value("/hosts/0/rate", -1.5).find(line + "hosts[0].rate: expected a number from 0") == 0);
  CHECK(with_value("/units/0/committed", 300).find(line + "units[0].committed: expected ") == 0);
  CHECK(with_value("/accepted", boost::json::parse("[[0,300]]"))
            .find(line + "units[0].state: expected a closed unit") == 0);

  // Whatever number stands anywhere in it, the log is refused, parts or replays: nothing ends the program.
  int refused = 0;
  std::vector<std::string> numbers;
  collect_numbers(event, "", numbers);
  for (const std::string& pointer : numbers) {
    for (const std::int64_t value : {-1, 0, 1, 3, 150, 299, 300, 301, 1'000'000'000}) {
      boost::json::value changed = event;
      changed.at_pointer(pointer) = value;
      rest[at] = boost::json::serialize(changed);
      INFO(pointer << " = " << value);
      ProjectReplay replay;
      const Status status = feed(replay, rest);
      if (status.ok()) continue;
      ++refused;
      CHECK(status.error().message.find("a.log:") == 0);
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("A host gets nothing of a problem that has no kernel for it, and hears which there are") {
  Small small;
  ProblemTerms terms;
  terms.strategy = "rts";
  terms.needs.platforms = {"x86_64-linux", "x86_64-windows"};
  terms.needs.application = "numbers";
  small.dispatch.apply(ProblemEvent{the_problem, terms}, small.now);
  WorkDemand demand;
  demand.offer.platforms = {"aarch64-linux"};
  demand.host = HostId{1};
  demand.slots = {{0, true}};
  demand.units = {UnitId{1}};
  const Served refused = small.dispatch.apply(demand, small.now);
  CHECK(refused.grants.empty());
  CHECK(refused.reason ==
        "numbers has kernels for x86_64-linux, x86_64-windows, and this computer runs aarch64-linux");
  demand.offer.platforms = {"x86_64-windows"};
  CHECK(small.dispatch.apply(demand, small.now).grants.size() == 1);
}

TEST_CASE("Own hosts ask again soon for a minute after the project had work; strangers, and many, do not") {
  Small small;
  CHECK(small.ask().grants.size() == 1);
  small.dispatch.apply(DropProblemEvent{the_problem}, small.now);
  CHECK(small.ask().retry_after == 0.5);
  small.now += std::chrono::seconds{61};
  CHECK(small.ask().retry_after == 5);
  HostTerms stranger;
  stranger.own = false;
  stranger.cores = 1;
  small.begin({.items = 10, .costs = {}, .sizing = "rts", .rules = {}});
  small.dispatch.apply(DropProblemEvent{the_problem}, small.now);
  CHECK(small.ask().retry_after == 0.5);
  for (int host = 2; host <= 400; ++host)
    small.dispatch.apply(HostEvent{HostId{host}, HostTerms{}}, small.now);
  CHECK(small.ask().retry_after == 2);  // together no more than 200 requests a second
  small.dispatch.apply(HostEvent{HostId{1}, stranger}, small.now);
  CHECK(small.ask().retry_after == 5);
  for (const std::string& line : small.lines) CHECK(again(line) == line);
}

TEST_CASE("A host that does not meet the needs of a problem gets nothing of it, and hears which they are") {
  Small small({.items = 10, .costs = {}, .sizing = "rts", .rules = {}}, {"python>=3.9", "numpy"});
  const std::vector<std::vector<std::string>> offers{{}, {"python 3.11"}, {"python 3.8", "numpy 1.24"}};
  for (const auto& capabilities : offers) {
    const Served refused = small.ask({}, capabilities);
    CHECK(refused.grants.empty());
    CHECK(refused.reason == "numbers needs Python 3.9 or newer and numpy, which this computer lacks");
  }
  CHECK(small.ask({}, {"python 3.11", "numpy 1.24"}).grants.size() == 1);
  CHECK(small.lines.size() > 4);
  for (const std::string& line : small.lines) CHECK(again(line) == line);
  ProjectReplay replay;
  check_replays(small.lines, replay);
}

TEST_CASE("log_fields.h names every field") {
  // A size that changed means a field that log_fields.h lacks: add it there, then change the number here.
  CHECK(sizeof(EndgameRules) == 120);
  CHECK(sizeof(Unit) == 216);
  CHECK(sizeof(HostRecord) == 272);
  CHECK(sizeof(HostTerms) == 112);
  CHECK(sizeof(ProblemTerms) == 152);
  CHECK(sizeof(WorkDemand) == 240);
  CHECK(sizeof(Opinion) == 48);
  CHECK(sizeof(VerdictTerms) == 24);
}

TEST_CASE("a unit that was given cannot be given again") {
  Small small;
  (void)small.ask();
  small.lines.push_back(small.lines.back());
  CHECK(fault_of(small.lines) == "a.log:6: units: 1 was given before");
}
