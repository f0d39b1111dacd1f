// Sizing strategies: their text form, the grid's clamps, and their invariants.
#include "server/policy/sizing/sizing.h"

#include "server/policy/sizing/rules.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tools/papers/paper.h"

using namespace gleaner;
using namespace gleaner::policy;

TEST_CASE("a strategy's text parses back to itself") {
  for (const char* text : {"wis",
                           "wis,shrink=compound,hysteresis=b,cut=0.5,factor=0.8",
                           "mis,b=0.5,factor=2",
                           "rts,mode=paper",
                           "static,mode=paper",
                           "mis,mode=paper,hysteresis=b",
                           "equal",
                           "ss,mode=paper",
                           "gss,min=10",
                           "tss",
                           "tss,f=20,l=2",
                           "fac",
                           "fac,mean=2,sd=0.25",
                           "fac,known=costs",
                           "fac2",
                           "wf,index=rate",
                           "awf-b",
                           "awf-c,mode=paper",
                           "awf-d",
                           "awf-e",
                           "af",
                           "alpha-gss,alpha=0.3,index=clock",
                           "wfac"}) {
    const auto first = make_sizing(text);
    REQUIRE(first.ok());
    const auto second = make_sizing((*first)->text());
    REQUIRE(second.ok());
    CHECK((*first)->text() == (*second)->text());
  }
  CHECK((*make_sizing("wis"))->mode() == SizingMode::grid);
  CHECK((*make_sizing("wis,mode=paper"))->mode() == SizingMode::paper);
}

TEST_CASE("a wrong strategy's text says what it takes") {
  const auto message = [](const char* text) {
    const auto made = make_sizing(text);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().kind == ErrorKind::invalid);
    return made.error().message;
  };
  const std::string all =
      "choose one of gleaner, wis, mis, rts, static, equal, ss, gss, tss, fac, fac2, wf, awf-b, awf-c, "
      "awf-d, awf-e, "
      "af, "
      "alpha-gss, wfac";
  CHECK(message("wos") == "there is no sizing strategy 'wos'; " + all);
  CHECK(message("") == "there is no sizing strategy ''; " + all);
  CHECK(message("wis,shrink=often") == "strategy 'wis': shrink takes single|compound|none, not 'often'");
  CHECK(message("mis,b=x") == "strategy 'mis': b takes a number from 0.001 to 100, not 'x'");
  CHECK(message("rts,size=2") == "strategy 'rts' has no option 'size'; it takes mode");
  CHECK(message("rts,mode") == "strategy 'rts': 'mode' must have the form key=value");
  CHECK(message("rts,mode=grid,mode=paper") == "strategy 'rts': 'mode' is given twice");
}

TEST_CASE("hysteresis") {
  CHECK(gated(Hysteresis::a, 1.0, 0) == 1.0);
  CHECK(gated(Hysteresis::a, 0.76, 1) == 1.0);
  CHECK(gated(Hysteresis::a, 0.75, 1) == 0.75);
  CHECK(gated(Hysteresis::a, 1.3, 1) == 1.0);
  CHECK(gated(Hysteresis::a, 1.34, 1) == 1.34);
  CHECK(gated(Hysteresis::b, 0.5, 1) == 1.0);
  CHECK(gated(Hysteresis::b, 0.25, 1) == 0.25);
  CHECK(gated(Hysteresis::b, 4, 1) == 4.0);
}

namespace {

struct Case {
  std::vector<WorkerView> workers;
  SizingView view;
};

Case grid_case() {
  Case made;
  made.workers.resize(2);
  made.workers[0].performance = 10;
  made.workers[1].performance = 1;
  made.view.items = 10000;
  made.view.free = 10000;
  made.view.limits = {60, 10, 86400};
  return made;
}

Size size_of(const char* text, Case& of) {
  of.view.workers = of.workers;
  const auto strategy = make_sizing(text);
  REQUIRE(strategy.ok());
  return (*strategy)->size(of.view);
}

}  // namespace

TEST_CASE("the grid clamps by measured durations and says why") {
  Case of = grid_case();
  of.workers[0].rate = 2;
  of.workers[0].returned = of.workers[0].requests = 1;
  of.workers[1].rate_estimate = 0.2;
  Size size = size_of("rts", of);
  CHECK(size.items == 20);
  CHECK(size.reason == "rts: one item at a time; raised from 1 to 10 s at 2 items/s");
  size = size_of("static", of);
  CHECK(size.items == 120);
  CHECK(size.reason.find("cut from 9091 to 60 s at 2 items/s") != std::string::npos);
  size = size_of("wis", of);  // ten times the slowest, which does 0.2 * 60 = 12 in the target duration
  CHECK(size.items == 120);
  of.workers[0].queue_current = 2;
  size = size_of("wis", of);
  CHECK(size.items == 60);
  of.workers[0].proposed_items = 3;
  size = size_of("wis", of);
  CHECK(size.items == 36);
  of.view.limits.lease_seconds = 20;
  CHECK(size_of("wis", of).items == 20);
  of.view.limits = {60, 10, 86400};
  of.view.free = 40;  // less than twice what the fleet does in the minimum duration: no floor any more
  CHECK(size_of("rts", of).items == 1);
}

TEST_CASE("the last 30 percent are handed out in smaller units in the grid, too") {
  Case of = grid_case();
  of.workers[0].rate = 2;
  of.workers[0].returned = 1;
  of.workers[1].rate = 0.2;
  of.workers[1].returned = 1;
  of.view.free = 3001;
  CHECK(size_of("wis", of).items == 120);
  of.view.free = 3000;
  CHECK(size_of("wis", of).items == 84);
}

TEST_CASE("while no speed is known, nobody gets the whole pool") {
  Case of = grid_case();
  CHECK(size_of("static", of).items == 500);
  CHECK(size_of("wis", of).items == 10);
  CHECK(size_of("mis", of).items == 1);
  of.view.free = 5;
  CHECK(size_of("static", of).items == 1);
}

TEST_CASE("sums kept by the caller give the sizes of the full list") {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    INFO("seed 11, round " << round);
    Case of = grid_case();
    of.workers.clear();
    const auto count = static_cast<std::size_t>(random.between(1, 12));
    for (std::size_t i = 0; i < count; ++i) {
      WorkerView worker;
      worker.performance = 0.5 + random.uniform() * 10;
      worker.returned = random.between(0, 2);
      worker.requests = worker.returned + random.between(0, 1);
      if (worker.returned > 0)
        worker.rate = worker.used_performance = worker.performance * 0.3;
      else
        worker.rate_estimate = worker.performance * 0.25;
      of.workers.push_back(worker);
    }
    of.view.requester = random.below(count);
    of.view.free = random.between(1, 10000);
    for (const char* text : {"wis", "mis", "rts"}) {
      of.view.fleet = {};
      const Size listed = size_of(text, of);
      of.view.fleet = fleet_of(of.view);
      CHECK(size_of(text, of).items == listed.items);
    }
  }
}
