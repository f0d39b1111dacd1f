// A stage's log: what is written is read back to the same, replays reach the same decisions, and what does
// not fit is named with its line.
#include <algorithm>
#include <boost/json.hpp>

#include "server/policy/journal/lines.h"
#include "server/policy/journal/recorded_stage.h"
#include "server/policy/journal/replay.h"
#include "tests/catch.h"
#include "tools/simulator/grid.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

std::vector<std::string> log_of(GridInstance instance) {
  std::vector<std::string> lines;
  instance.log = [&](const std::string& line) { lines.push_back(line); };
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

Status feed(policy::Replay& replay, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (replay.parting()) return {};
    TRY(replay.feed(line, "a.log"));
  }
  return {};
}

std::string mistake_of(const std::vector<std::string>& lines) {
  policy::Replay replay;
  const Status status = feed(replay, lines);
  return status.ok() ? "" : status.error().message;
}

const std::string setup_text = policy::setup_line({.items = 10, .costs = {}, .sizing = "rts", .rules = {}});
const std::string request =
    R"({"at":1000,"event":"request","host":1,"slot":0,"urgent":true,"slots":1,"performance":1.0,)"
    R"("queue_unloaded":1.0,"queue_current":1.0,"proposed_items":0.0,"unit":1,"planned":null,"planned_reason":"","answer":"unit 1"})";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

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
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const char* sizing : {"wis", "mis", "static"}) {
      GridInstance instance = troubled(seed);
      instance.sizing = sizing;
      const auto lines = log_of(instance);
      policy::Replay replay;
      INFO("seed " << seed << ", " << sizing);
      const Status status = feed(replay, lines);
      INFO((status.ok() ? "" : status.error().message));
      REQUIRE(status.ok());
      if (replay.parting()) {
        INFO("line " << replay.parting()->line << "\n"
                     << replay.parting()->logged << "\n"
                     << replay.parting()->replayed);
        CHECK_FALSE(replay.parting());
      }
      CHECK(replay.events() > 20);
      CHECK(replay.decisions() > 10);
      CHECK((replay.stage()->complete() || !replay.stage()->ledger().set_aside().empty()));
    }
  }
}

TEST_CASE("a log with items that were saved and gone on with elsewhere replays to the same decisions") {
  GridInstance instance = troubled(1);
  instance.checkpoint = true;
  instance.commit_seconds = 5;
  for (double& cost : instance.costs) cost *= 60;
  for (GridHost& host : instance.hosts)
    for (HostEvent& event : host.events) event.at *= 60;
  const auto lines = log_of(instance);
  const auto mention = [&](const std::string& text) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(mention(R"("event":"save")") > 10);
  CHECK(mention("goes on") > 0);
  policy::Replay replay;
  const Status status = feed(replay, lines);
  INFO((status.ok() ? "" : status.error().message));
  REQUIRE(status.ok());
  CHECK_FALSE(replay.parting());
  CHECK(replay.stage()->complete());
}

TEST_CASE("every line is read back to what was written") {
  for (const std::string& line : log_of(troubled(3))) {
    if (line.find("gleaner_stage_log") != std::string::npos) {
      const auto read = policy::read_setup_line(line);
      REQUIRE(read.ok());
      CHECK(policy::setup_line(*read) == line);
    } else {
      const auto read = policy::read_entry_line(line, 300);
      REQUIRE(read.ok());
      CHECK(policy::entry_line(*read) == line);
    }
  }
}

TEST_CASE(
    "what relays ask, report and deliver, and what is leased to a relay's own stage, replays the same") {
  policy::StageSetup below{.items = 100, .costs = {}, .sizing = "rts,mode=paper", .rules = {}};
  below.elsewhere = true;
  std::vector<std::string> lines;
  policy::RecordedStage stage(below, [&](const std::string& line) { lines.push_back(line); });
  const Timestamp now = Timestamp{} + std::chrono::hours{24};
  policy::Changes changes;
  stage.apply(policy::BringEvent{{10, 90}, 1000}, now);
  stage.apply(policy::AdmitRelayEvent{HostId{1}}, now);
  policy::Requester requester;
  requester.host = HostId{1};
  requester.performance = 100;
  requester.unit = UnitId{1};
  requester.relay = policy::RelayOffer{2.5, 40};
  requester.planned = Range{10, 60};
  const policy::Grant grant = stage.apply(policy::RequestEvent{requester}, now, changes);
  REQUIRE(grant.unit == UnitId{1});
  CHECK(stage
            .apply(policy::RelayReportEvent{HostId{1}, policy::RelayReport{UnitId{1}, 40, 20, 2.5, 40}}, now,
                   changes)
            .end == 60);
  CHECK(
      stage.apply(policy::CommitEvent{HostId{1}, UnitId{1}, {30, 35}, false}, now, changes).refusal.empty());
  stage.apply(policy::TakeAwayEvent{{55, 90}, "its parent cut it"}, now, changes);
  CHECK(stage
            .apply(policy::RelayReportEvent{HostId{1}, policy::RelayReport{UnitId{1}, 40, 20, 2.5, 40}}, now,
                   changes)
            .end == 55);
  for (const std::string& line : lines) {
    const bool first = line.find("gleaner_stage_log") != std::string::npos;
    CHECK((first ? policy::setup_line(*policy::read_setup_line(line))
                 : policy::entry_line(*policy::read_entry_line(line, 100))) == line);
  }
  policy::Replay replay;
  const Status status = feed(replay, lines);
  INFO((status.ok() ? "" : status.error().message));
  REQUIRE(status.ok());
  CHECK_FALSE(replay.parting());
  CHECK(replay.stage()->ledger().elsewhere().ranges() == stage.view().ledger().elsewhere().ranges());
  // What cannot be is named, not done.
  const auto mistaken = [&](const char* what, const char* instead) {
    std::vector<std::string> changed = lines;
    for (std::string& line : changed)
      if (const auto at = line.find(what); at != std::string::npos)
        line.replace(at, std::string_view(what).size(), instead);
    return mistake_of(changed);
  };
  CHECK(mistaken(R"("range":[55,90])", R"("range":[55,101])").find("range: expected [begin, end] within") !=
        std::string::npos);
  CHECK(mistaken(R"("slots":40)", R"("slots":0)").find("rate and slots: expected") != std::string::npos);
}

TEST_CASE("a decision that was changed in the log is where the replay parts from it") {
  auto lines = log_of(troubled(1));
  std::size_t changed = 0;
  for (std::size_t i = 0; i < lines.size() && changed == 0; ++i) {
    const auto at = lines[i].find("\"answer\":\"unit 9\"");
    if (at == std::string::npos) continue;
    lines[i].replace(at, 17, "\"answer\":\"unit 8\"");
    changed = i + 1;
  }
  REQUIRE(changed > 0);
  policy::Replay replay;
  REQUIRE(feed(replay, lines).ok());
  REQUIRE(replay.parting());
  CHECK(replay.parting()->line == static_cast<std::int64_t>(changed));
  CHECK(replay.parting()->logged.find("unit 8") == 0);
  CHECK(replay.parting()->replayed.find("unit 9") == 0);
}

TEST_CASE("a log of an older version, whose rules are gone, is refused with a reason") {
  for (const char* older : {"\"gleaner_stage_log\":1", "\"gleaner_stage_log\":2"}) {
    CHECK(mistake_of({with(setup_text, "\"gleaner_stage_log\":3", older)})
              .find("a.log:1: gleaner_stage_log: this log is of an older version") == 0);
  }
  CHECK(mistake_of({with(setup_text, "\"fit\":", "\"other\":")}) == "a.log:1: rules.fit: is missing");
}

TEST_CASE("every mistake in a log is named with its line and key") {
  policy::Replay fine;
  REQUIRE(feed(fine, {setup_text, request}).ok());
  CHECK(fine.parting());  // the decisions are left out
  CHECK(mistake_of({"nonsense"}) == "a.log:1: expected one JSON object on the line");
  CHECK(mistake_of({"{}"}).find("a.log:1: gleaner_stage_log: expected 3") == 0);
  CHECK(mistake_of({with(setup_text, "\"items\":10", "\"items\":-1")}) ==
        "a.log:1: items: expected a whole number from 0 to 1000000000000000");
  CHECK(mistake_of({with(setup_text, "\"items\":10", "\"items\":10,\"costs\":[1.0]")}) ==
        "a.log:1: costs: expected 10, one an item, got 1");
  CHECK(mistake_of({with(setup_text, "\"rts\"", "\"abc\"")}).find("a.log:1: strategy: ") == 0);
  CHECK(mistake_of({with(setup_text, "\"heartbeat\":", "\"hearbeat\":")}) ==
        "a.log:1: rules.heartbeat: is missing");
  CHECK(mistake_of({setup_text, with(request, "\"slot\":0", "\"slot\":\"a\"")}) ==
        "a.log:2: slot: expected a whole number");
  CHECK(mistake_of({setup_text, with(request, "\"request\"", "\"ask\"")})
            .find("a.log:2: event: expected one of restore, ") == 0);
  CHECK(mistake_of({setup_text, with(request, "\"unit\":1,", "\"unit\":0,")})
            .find("a.log:2: host and unit: ") == 0);
  CHECK(mistake_of(
            {setup_text, "", R"({"at":1,"event":"commit","host":1,"unit":1,"range":[0,11],"last":false})"}) ==
        "a.log:3: range: expected [begin, end] within the stage's 10 items, got [0,11]");
}

TEST_CASE(
    "a log that has no room for what a stage is restored from is not made that line, nor any after it") {
  using namespace gleaner::policy;
  const Timestamp now = Timestamp{} + std::chrono::hours{24};
  Unit unit;
  unit.id = unit.group = UnitId{1};
  unit.host = HostId{1};
  unit.range = {0, 1};
  HostRecord record;
  record.host = HostId{1};
  const StageSetup stage_setup{.items = 10, .costs = {}, .sizing = "rts", .rules = {}};
  CHECK(entry_line({now, RestoreEvent{{}, {unit}, {record}, {}, {}}, {}}).size() >=
        restore_bytes_least(1, 1));
  for (const std::size_t room : {std::size_t{100}, std::size_t{100'000}}) {
    std::vector<std::string> lines;
    bool over = false;
    RecordedStage stage(stage_setup, {[&](const std::string& line) { lines.push_back(line); },
                                      [&](std::size_t bytes) { return !(over = over || bytes > room); }});
    stage.apply(RestoreEvent{{}, {unit}, {record}, {}, {}}, now);
    Changes changes;
    stage.apply(TickEvent{}, now, changes);
    CHECK(lines.size() == (room == 100 ? 1 : 3));  // the setup, the restoring, the tick
  }
}

TEST_CASE("what a stage cannot be restored from is named with its line and key") {
  const auto lines = log_of(troubled(1));
  const auto restored = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("\"event\":\"restore\"") != std::string::npos;
  });
  REQUIRE(restored != lines.end());
  const boost::json::value event = boost::json::parse(*restored);
  REQUIRE(event.at("units").as_array().size() >= 2);
  REQUIRE(event.at("hosts").as_array().size() >= 2);
  const auto with_value = [&](const std::string& pointer, const boost::json::value& value) {
    boost::json::value changed = event;
    changed.at_pointer(pointer) = value;
    return mistake_of({*std::prev(restored), boost::json::serialize(changed)});
  };
  CHECK(with_value("/units/0/id", event.at_pointer("/units/0/id")).empty());
  CHECK(with_value("/units/0/id", 0) == "a.log:2: units[0].id: expected a number from 1 on, got 0");
  CHECK(with_value("/units/1/id", event.at_pointer("/units/0/id"))
            .find("a.log:2: units[1].id: expected a number that") == 0);
  CHECK(with_value("/units/0/host", 0) == "a.log:2: units[0].host: expected a number from 1 on, got 0");
  CHECK(with_value("/hosts/1/host", event.at_pointer("/hosts/0/host"))
            .find("a.log:2: hosts[1].host: expected a number that no other host has") == 0);
  CHECK(with_value("/hosts/0/slots", 0) == "a.log:2: hosts[0].slots: expected 1 to 100000, got 0");
  CHECK(with_value("/hosts/0/rate", -1.5).find("a.log:2: hosts[0].rate: expected a number from 0") == 0);
  CHECK(with_value("/units/0/committed", 300).find("a.log:2: units[0].committed: expected ") == 0);
  CHECK(with_value("/accepted", boost::json::parse("[[0,300]]"))
            .find("a.log:2: units[0].state: expected a closed unit") == 0);
  CHECK(mistake_of({*std::prev(restored), *restored, *restored})
            .find("a.log:3: event: expected restore only right after the stage's setup") == 0);

  // Whatever number stands anywhere in it, the log is refused, parts or replays: nothing ends the program.
  std::vector<std::string> rest(std::prev(restored), lines.end());
  int refused = 0;
  std::vector<std::string> numbers;
  collect_numbers(event, "", numbers);
  for (const std::string& pointer : numbers) {
    for (const std::int64_t value : {-1, 0, 1, 3, 150, 299, 300, 301, 1'000'000'000}) {
      boost::json::value changed = event;
      changed.at_pointer(pointer) = value;
      rest[1] = boost::json::serialize(changed);
      INFO(pointer << " = " << value);
      policy::Replay replay;
      const Status status = feed(replay, rest);
      if (status.ok()) continue;
      ++refused;
      CHECK(status.error().message.find("a.log:") == 0);
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("log_fields.h names every field") {
  // A size that changed means a field that log_fields.h lacks: add it there, then change the number here.
  CHECK(sizeof(policy::Requester) == 160);
  CHECK(sizeof(policy::EndgameRules) == 120);
  CHECK(sizeof(policy::Unit) == 216);
  CHECK(sizeof(policy::HostRecord) == 272);
}

TEST_CASE("a unit that was given cannot be given again") {
  policy::Replay replay;
  REQUIRE(replay.feed(setup_text, "a.log").ok());
  REQUIRE(replay.feed(request, "a.log").ok());
  const Status again = replay.feed(request, "a.log");
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().message == "a.log:3: unit: 1 was given before");
}
