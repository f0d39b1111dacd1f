// What may go wrong besides hosts that come and go: messages lost or late, results that are wrong, slow
// links.
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/simulator/run.h"
#include "tools/simulator/grid.h"
#include "tools/simulator/opinions.h"
#include "tools/simulator/scenario/scenario.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

GridInstance even(std::int64_t items, int hosts) {
  GridInstance instance;
  instance.items = items;
  for (int i = 0; i < hosts; ++i) {
    instance.hosts.emplace_back();
    instance.hosts.back().speed = 1 + 0.5 * (i % 3);
  }
  instance.request_delay = 0.1;
  instance.give_up_after = 1e5;
  return instance;
}

}  // namespace

TEST_CASE("lost and late messages cost time, never items") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    GridInstance instance = even(400, 6);
    instance.seed = seed;
    instance.loss_chance = 0.2;
    instance.loss_retry = 2;
    instance.late_chance = 0.1;
    instance.late_seconds = 10;
    const GridRun troubled = run(instance);
    INFO("seed " << seed);
    CHECK(troubled.complete);
    CHECK(troubled.counts.accepted == 400);
    CHECK(troubled.makespan > troubled.ideal);
  }
}

TEST_CASE("a pause far longer than the problem leaves units as they were") {
  for (const char* sizing : {"wis", "gleaner"}) {
    GridInstance instance = even(640, 1);
    instance.sizing = sizing;
    instance.sample_seconds = 10;
    instance.hosts[0].speed = 16;
    instance.hosts[0].events = {{10, HostEventKind::pause}, {7210, HostEventKind::resume}};
    const GridRun paused = run(instance);
    INFO(sizing);
    CHECK(paused.complete);
    double before = 0, after = 0, units_before = 0, units_after = 0;
    for (const GridGrant& grant : paused.grants_made) {
      (grant.at < 7200 ? before : after) += static_cast<double>(grant.items);
      (grant.at < 7200 ? units_before : units_after) += 1;
    }
    CHECK(before > 100);
    CHECK(after > 100);
    CHECK(after / units_after > 0.2 * before / units_before);
    CHECK(after / units_after < 3 * before / units_before);
  }
}

TEST_CASE("a slow link holds up the start of a unit and its delivery") {
  GridInstance instance = even(100, 1);
  instance.prefetch = false;
  const double free = run(instance).makespan;
  instance.hosts[0].download_seconds = 0.5;
  const double down = run(instance).makespan;
  CHECK(down == Approx(free + 50).margin(1));
  instance.hosts[0].upload_seconds = 0.5;
  CHECK(run(instance).makespan > down);
}

TEST_CASE("wrong results are judged where results overlap, and every item ends accepted or set aside") {
  std::int64_t wrong = 0, disputes = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    GridInstance instance = even(400, 8);
    instance.seed = seed;
    instance.hosts[0].wrong_chance = 1;
    instance.hosts[1].wrong_chance = 0.3;
    // What it finished before it was switched off is computed elsewhere before it is back to deliver it.
    instance.hosts[0].events = {{5, HostEventKind::off},
                                {28 + 0.2 * static_cast<double>(seed), HostEventKind::on}};
    if (seed % 2 == 0) instance.straggler = policy::Straggler::duplicate_once;
    const GridRun lied = run(instance);
    INFO("seed " << seed);
    CHECK(lied.counts.accepted + lied.counts.set_aside == 400);
    wrong += lied.wrong_items;
    disputes += lied.counts.disputes;
  }
  CHECK(wrong > 0);  // nothing is audited: most lies are never compared
  CHECK(disputes > 0);
}

TEST_CASE("opinions are judged by majority") {
  Opinions opinions;
  const HostId a{1}, b{2}, c{3};
  opinions.deliver({0, 10}, a, 7);
  CHECK(opinions.wrong_items() == 10);
  opinions.deliver({5, 15}, b, 0);
  auto findings = opinions.review({0, 15}, 5);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].range == Range{5, 10});
  CHECK(findings[0].kind == policy::VerdictKind::need_another);
  opinions.deliver({5, 10}, c, 0);
  findings = opinions.review({5, 10}, 5);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == policy::VerdictKind::decided);
  CHECK(opinions.wrong_items() == 5);
  CHECK(opinions.review({0, 15}, 5).empty());
}

TEST_CASE("a trace file gives hosts and their events") {
  const auto hosts = read_trace(
      "host,seconds,event,value\na,0,join,2\nb,5,join,1\na,10,pause\n# noon\nb,12,slow,0.5\na,20,resume,\n",
      "t.csv");
  REQUIRE(hosts.ok());
  REQUIRE(hosts->size() == 2);
  CHECK((*hosts)[0].speed == 2);
  CHECK((*hosts)[1].joins_at == 5);
  REQUIRE((*hosts)[0].events.size() == 2);
  CHECK((*hosts)[0].events[1].kind == HostEventKind::resume);
  CHECK((*hosts)[1].events[0].factor == 0.5);
  const auto mistake = [](const char* text) { return read_trace(text, "t.csv").error().message; };
  CHECK(mistake("") == "t.csv:1: expected lines \"host,seconds,event,value\", the first of a host join");
  CHECK(mistake("a,0,join,1\na,1\n") == "t.csv:2: expected host,seconds,event,value, got 2 cells");
  CHECK(mistake("a,0,off\n") == "t.csv:1: a: its first event has to be join, with its speed");
  CHECK(mistake("a,0,join,1\na,x,off\n") == "t.csv:2: seconds: expected a number from 0 on, got \"x\"");
  CHECK(mistake("a,0,join,1\na,5,off\na,4,on\n") == "t.csv:3: seconds: a's events have to be in order");
  CHECK(mistake("a,0,join,1\na,5,sleep\n").find("t.csv:2: event: expected join, pause, ") == 0);
  CHECK(mistake("a,0,join,0\n") == "t.csv:1: value: expected its speed, above 0");
}

TEST_CASE("a fleet from a trace file, with links, habits and liars, is read from a scenario") {
  const std::string text = R"([problem]
items = 50
bytes_in = 1e6
[[fleet]]
trace = "pcs.csv"
slots = 2
down_mbit = 8
[[fleet]]
hosts = 20
mix = { office = 1 }
pause_gap = 100
pause_length = 1
present = [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
wrong = 0.5
liars = 0.5
[failures]
lost = 0.1
late = 0.1
)";
  const auto read_file = [](const std::string& name) -> Result<std::string> {
    CHECK(name == "pcs.csv");
    return std::string("a,0,join,2\n");
  };
  const auto scenario = read_scenario(text, "s.toml", {}, read_file);
  REQUIRE(scenario.ok());
  const auto instance = make_instance(*scenario, 1);
  REQUIRE(instance.ok());
  REQUIRE(instance->hosts.size() == 21);
  CHECK(instance->hosts[0].slots == 2);
  CHECK(instance->hosts[0].download_seconds == Approx(1));
  int liars = 0;
  for (std::size_t i = 1; i < 21; ++i) {
    const GridHost& host = instance->hosts[i];
    liars += host.wrong_chance > 0 ? 1 : 0;
    OwnerTrace trace(*host.owner);
    for (HostEvent event; trace.next(event) && event.at < 86400;) CHECK(event.kind != HostEventKind::pause);
  }
  CHECK(liars > 3);
  CHECK(liars < 17);
  CHECK(read_scenario(text, "s.toml").error().message ==
        "s.toml:5: fleet.trace: there are no trace files here");
}
