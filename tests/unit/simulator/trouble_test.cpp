// What may go wrong besides hosts that come and go: messages lost or late, results that are wrong, slow
// links, fleets without power or network, a busy server, false rates.
#include <cmath>
#include <tuple>

#include "server/policy/dispatch/replay.h"
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

TEST_CASE("an application that fails wherever it is tried ends its problem, and no other") {
  GridInstance instance = even(400, 4);
  instance.failure_chance = 1;
  const GridRun alone = run(instance);
  CHECK_FALSE(alone.complete);
  CHECK(alone.problems.front().stopped);
  CHECK(alone.makespan < 60);
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
  instance.bytes_in = instance.bytes_out = 100;
  instance.hosts[0].download_byte_seconds = 0.005;
  const double down = run(instance).makespan;
  CHECK(down == Approx(free + 50).margin(1));
  instance.hosts[0].upload_byte_seconds = 0.005;
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

TEST_CASE("without power a host is off, and afterwards as its owner has it by then") {
  GridHost host;
  host.events = {{20, HostEventKind::pause}, {30, HostEventKind::slow, 0.5}, {70, HostEventKind::resume}};
  auto outages = std::make_shared<FleetOutages>();
  outages->power.listed = {10, 50, 90, 95};
  outages->network.listed = {40, 60};
  host.outages = outages;
  std::vector<std::tuple<double, HostEventKind, double>> told;
  HostTrace trace(host);
  for (HostEvent event; trace.next(event);) told.emplace_back(event.at, event.kind, event.factor);
  using Kind = HostEventKind;
  CHECK(told == decltype(told){{0, Kind::on, 1},
                               {10, Kind::off, 1},
                               {40, Kind::cut, 1},
                               {50, Kind::on, 1},
                               {50, Kind::pause, 1},
                               {50, Kind::slow, 0.5},
                               {60, Kind::back, 1},
                               {70, Kind::resume, 1},
                               {90, Kind::off, 1},
                               {95, Kind::on, 1},
                               {95, Kind::slow, 0.5}});
}

TEST_CASE("drawn outages come at the same times for hosts of one seed, and about as often as said") {
  auto outages = std::make_shared<FleetOutages>();
  outages->power = {{}, 1000, 100};
  outages->each_cut = {{}, 500, 50};
  outages->seed = 7;
  GridHost host;
  host.outages = outages;
  const auto times = [&](std::uint64_t own_seed, HostEventKind kind) {
    host.outage_seed = own_seed;
    HostTrace trace(host);
    std::vector<double> at;
    for (HostEvent event; trace.next(event) && event.at < 1e6;)
      if (event.kind == kind) at.push_back(event.at);
    return at;
  };
  CHECK(times(1, HostEventKind::off) == times(2, HostEventKind::off));
  CHECK(times(1, HostEventKind::cut) != times(2, HostEventKind::cut));
  CHECK(static_cast<double>(times(1, HostEventKind::off).size()) == Approx(909).epsilon(0.1));
  CHECK(static_cast<double>(times(1, HostEventKind::cut).size()) == Approx(1818).epsilon(0.1));
}

TEST_CASE("a host that is cut off computes on and delivers later") {
  GridInstance alone = even(100, 1);
  auto outages = std::make_shared<FleetOutages>();
  outages->network.listed = {5, 60, 80, 90};
  const double before = run(alone).makespan;
  alone.hosts[0].outages = outages;
  alone.sample_seconds = 1;
  const GridRun cut = run(alone);
  CHECK(cut.complete);
  CHECK(cut.counts.accepted == 100);
  for (const GridGrant& grant : cut.grants_made) {
    INFO("a unit at " << grant.at << " s");
    CHECK((grant.at < 6 || grant.at >= 60));
    CHECK((grant.at < 81 || grant.at >= 90));
  }
  CHECK(cut.makespan > before);
  CHECK(cut.makespan < before + 150);  // it may run dry while it is cut off, and backs off for as long again
  CHECK(cut.hosts[0].work == Approx(100).epsilon(1e-6));  // nothing was computed again
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    GridInstance instance = even(400, 6);
    instance.seed = seed;
    instance.sizing = seed % 2 == 0 ? "gleaner" : "wis";
    instance.failure_chance = 0.05;
    auto often = std::make_shared<FleetOutages>();
    often->each_cut = {{}, 30, 10};
    often->power = {{}, 60, 5};
    often->seed = seed;
    for (GridHost& host : instance.hosts) {
      host.outages = often;
      host.outage_seed = 100 * seed + static_cast<std::uint64_t>(&host - instance.hosts.data());
    }
    const GridRun troubled = run(instance);
    INFO("seed " << seed);
    CHECK(troubled.counts.accepted + troubled.counts.set_aside == 400);  // kernels fail, too
    CHECK(troubled.counts.set_aside <= 4);
    CHECK(troubled.makespan >= troubled.ideal);
  }
}

TEST_CASE("a server that takes its time for a message holds up its hosts") {
  GridInstance instance = even(400, 8);
  const double free = run(instance).makespan;
  instance.service_seconds = 0.5;
  const GridRun slow = run(instance);
  CHECK(slow.complete);
  CHECK(slow.makespan > free + 1);
}

TEST_CASE("hosts that say wrong rates cost time, never items") {
  for (const double boast : {0.05, 20.0}) {
    GridInstance instance = even(800, 8);
    instance.sizing = "gleaner";
    instance.hosts[0].boast = boast;
    instance.hosts[0].performance = boast * instance.hosts[0].speed;
    for (GridHost& host : instance.hosts) host.rate_noise = 0.5;
    const GridRun misled = run(instance);
    INFO(boast);
    CHECK(misled.complete);
    CHECK(misled.counts.accepted == 800);
    CHECK(misled.makespan < 2 * misled.ideal);
  }
}

TEST_CASE("opinions are judged by majority") {
  Opinions opinions;
  const HostId a{1}, b{2}, c{3};
  opinions.deliver({0, 10}, a, 7);
  CHECK(opinions.wrong_items() == 10);
  opinions.deliver({5, 15}, b, 0);
  const auto review = [&](Range range) {
    return opinions.review(range, {}, [](HostId host) { return policy::Opinion{host, {}}; });
  };
  auto finding = review({0, 15});
  REQUIRE(finding);
  CHECK(finding->range == Range{5, 10});
  CHECK(finding->verdict.kind == policy::VerdictKind::need_another);
  CHECK_FALSE(review({10, 15}));
  opinions.deliver({5, 10}, c, 0);
  finding = review({5, 10});
  REQUIRE(finding);
  CHECK(finding->verdict.kind == policy::VerdictKind::decided);
  CHECK(opinions.wrong_items() == 5);
  CHECK_FALSE(review({0, 15}));
  opinions.forget({0, 5});
  CHECK(opinions.wrong_items() == 0);
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
  CHECK(instance->hosts[0].download_byte_seconds * instance->bytes_in == Approx(1));
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

TEST_CASE("items that are saved survive their hosts: less is computed twice, and sooner") {
  // Items of half an hour on hosts that go off in the middle of one; every other one for good.
  const auto with = [](bool checkpoint) {
    GridInstance instance;
    instance.items = 24;
    instance.item_seconds = 1800;
    instance.checkpoint = checkpoint;
    instance.sizing = "gleaner";
    for (int i = 0; i < 6; ++i) {
      GridHost host;
      host.speed = 1.0 / 1800;
      host.events.push_back({3200, HostEventKind::off, 1});
      if (i % 2 == 0) host.events.push_back({4000, HostEventKind::on, 1});
      instance.hosts.push_back(host);
    }
    return run(instance);
  };
  const GridRun moved = with(true), none = with(false);
  CHECK((moved.complete && none.complete));
  CHECK(moved.makespan < none.makespan);
  CHECK(moved.waste < none.waste);
  CHECK(moved.waste < 0.1);
}

TEST_CASE("a problem with fewer items than cores is computed by those that draw least") {
  // 40 cores as fast as each other, every other one of four times the draw; they wait when it is added.
  const auto with = [](bool save) {
    GridInstance instance;
    instance.items = 20;
    instance.item_seconds = 300;
    instance.arrives_at = 60;
    if (!save) instance.straggler = policy::Straggler::none;  // it does not look at draws
    instance.sizing = "gleaner";
    for (int i = 0; i < 40; ++i) {
      GridHost host;
      host.speed = 1.0 / 300;
      host.watts = i % 2 == 0 ? 20 : 5;
      instance.hosts.push_back(host);
    }
    std::vector<std::string> lines;
    instance.log = {[&](const std::string& line) { lines.push_back(line); }};
    const GridRun done = run(instance);
    policy::ProjectReplay replay;
    for (const std::string& line : lines) REQUIRE(replay.feed(line, "a.log").ok());
    CHECK_FALSE(replay.parting());
    return done;
  };
  const GridRun saved = with(true), not_saved = with(false);
  CHECK((saved.complete && not_saved.complete));
  CHECK(not_saved.joules > 20 * 300 * 10);
  CHECK(saved.joules < 20 * 300 * 6.5);
  CHECK(saved.makespan < not_saved.makespan + 5);
}
