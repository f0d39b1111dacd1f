// Properties of a stage over random histories: hosts that ask, report, deliver late, twice and beyond their
// end, fail, pause, leave, fall silent; clocks that jump; disputes and rejections; restarts. Invariants hold
// after every event, items are accepted once, and in the end everything is delivered or set aside.
#include "shared/base/random.h"
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

#ifdef GLEANER_SANITIZED
constexpr int histories = 500;
#else
constexpr int histories = 10'000;
#endif

class Chaos {
 public:
  explicit Chaos(std::uint64_t seed)
      : random_(seed), bench_(make(random_)), hosts_(static_cast<int>(random_.between(1, 6))) {
    times_accepted_.assign(static_cast<std::size_t>(bench_.setup.items), 0);
  }

  void run() {
    const auto steps = random_.between(5, 45);
    for (std::int64_t i = 0; i < steps; ++i) step();
    end();
  }

 private:
  static Straggler any_straggler(Random& random) {
    if (random.chance(0.5)) return Straggler::split;
    return static_cast<Straggler>(random.between(1, 8));
  }

  static StageBench make(Random& random) {
    StageSetup setup;
    setup.items = random.between(1, 60);
    const char* sizings[] = {"wis",
                             "mis",
                             "rts",
                             "static",
                             "wis,mode=paper",
                             "mis,mode=paper",
                             "rts,mode=paper",
                             "static,mode=paper",
                             "gleaner",
                             "gleaner,f=0.2,tmin=1,tmax=20"};
    setup.sizing = sizings[random.below(10)];
    setup.straggler = any_straggler(random);
    setup.rules.lease_factor = random.chance(0.3) ? 2 : 0;
    setup.benchmark_worth = random.chance(0.3) ? random.exponential(1) : 0;
    setup.may_split = random.chance(0.8);
    setup.rules.lease = 5000;
    if (random.chance(0.5)) {
      for (std::int64_t i = 0; i < setup.items; ++i)
        setup.costs.push_back(random.chance(0.05) ? 100 : 0.1 + random.exponential(2));
    }
    return StageBench(setup);
  }

  const Unit* any_unit() {
    if (units_.empty()) return nullptr;
    return bench_.stage.unit(units_[random_.below(units_.size())]);
  }

  void count(const CommitOutcome& outcome) {
    for (const Range range : outcome.accepted) {
      CHECK(!range.empty());
      for (std::int64_t item = range.begin; item < range.end; ++item)
        ++times_accepted_[static_cast<std::size_t>(item)];
    }
  }

  void take(int host, int slot) {
    const Grant grant = bench_.ask(host, slot, random_.chance(0.7));
    if (!grant.unit) {
      CHECK((grant.retry_after > 0 && !grant.reason.empty()));
      return;
    }
    const Unit& unit = *bench_.stage.unit(*grant.unit);
    CHECK((unit.range.size() >= 1 && !unit.reason.empty()));
    units_.push_back(unit.id);
  }

  void commit() {
    const Unit* unit = any_unit();
    if (unit == nullptr) return;
    // Mostly what comes next; sometimes what was delivered before, or more than is left of it.
    const std::int64_t begin =
        random_.chance(0.8) ? unit->committed : random_.between(unit->range.begin, unit->committed + 1);
    const std::int64_t most = random_.chance(0.7) ? unit->range.end : unit->handed_end + 1;
    const Range range{begin, random_.between(begin, std::max(begin, most))};
    const Unit before = *unit;
    const CommitOutcome preview = bench_.stage.preview_commit(before.host, before.id, range);
    const CommitOutcome outcome = bench_.commit(before, range, random_.chance(0.5));
    CHECK((preview.accepted == outcome.accepted && preview.refusal == outcome.refusal));
    if (!outcome.refusal.empty()) return;
    CHECK(range.end <= std::max(before.handed_end, before.range.end));
    count(outcome);
    if (outcome.overlapping.empty() || random_.chance(0.6)) return;
    const Range doubt = outcome.overlapping[random_.below(outcome.overlapping.size())];
    std::vector<HostId> asked{before.host, HostId{random_.between(1, 6)}};
    bench_.recorded.apply(DisputeEvent{doubt, asked}, bench_.now, bench_.changes);
    disputed_.add(doubt);
    bench_.stage.check_invariants();
  }

  void settle(Range range) {
    disputed_.remove(range);
    const auto how = random_.below(4);
    if (how == 0) {
      for (const Range part : bench_.stage.ledger().accepted().within(range)) forget(part);
      bench_.recorded.apply(RejectEvent{range, "a test"}, bench_.now, bench_.changes);
    } else {
      bench_.recorded.apply(ResolveEvent{range, how > 1}, bench_.now, bench_.changes);
    }
    bench_.stage.check_invariants();
  }

  void forget(Range range) {
    for (std::int64_t item = range.begin; item < range.end; ++item)
      times_accepted_[static_cast<std::size_t>(item)] = 0;
  }

  void report() {
    const Unit* unit = any_unit();
    if (unit == nullptr) return;
    const auto state = random_.chance(0.2) ? protocol::RunState::paused : protocol::RunState::running;
    const double rate = random_.chance(0.3) ? 0 : random_.exponential(2);
    const auto order = bench_.report(Unit(*unit), random_.between(unit->range.begin, unit->range.end + 2),
                                     random_.exponential(30), rate, state, random_.exponential(5));
    CHECK(order.unit == unit->id);
    if (unit->state == UnitState::open)
      CHECK((order.action == protocol::UnitAction::go_on && order.end == unit->range.end));
    if (unit->state != UnitState::open) CHECK(order.action == protocol::UnitAction::cancel);
  }

  void step() {
    bench_.wait(random_.chance(0.05) ? (random_.chance(0.3) ? -100 : random_.exponential(4000))
                                     : random_.exponential(8));
    const int host = static_cast<int>(random_.between(1, hosts_));
    switch (random_.below(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        take(host, static_cast<int>(random_.below(2)));
        break;
      case 5:
      case 6:
      case 7:
        report();
        break;
      case 8:
      case 9:
      case 10:
        commit();
        break;
      case 11:
        bench_.tick();
        break;
      case 12:
        if (const Unit* unit = any_unit()) {
          const auto why = random_.chance(0.6) ? GiveBack::failed : GiveBack::returned;
          bench_.give_back(Unit(*unit), why, random_.between(-1, bench_.setup.items));
        }
        break;
      case 13:
        rare(host);
        break;
    }
  }

  void rare(int host) {
    switch (random_.below(5)) {
      case 0:
        bench_.recorded.apply(HostLeftEvent{HostId{host}, "it left"}, bench_.now, bench_.changes);
        bench_.stage.check_invariants();
        break;
      case 1:
        if (!disputed_.empty()) settle(disputed_.front());
        break;
      case 2:
        bench_.restart();
        disputed_.clear();  // the service disputes anew; a check under way goes on
        break;
      case 3: {
        const char* sizings[] = {"wis", "rts", "mis,mode=paper", "static", "gleaner"};
        REQUIRE(bench_.recorded.apply(SizingEvent{sizings[random_.below(5)]}, bench_.now).ok());
        break;
      }
      case 4:
        REQUIRE(bench_.recorded.apply(StragglerEvent{name_of(any_straggler(random_))}, bench_.now).ok());
        break;
    }
  }

  // Two fresh hosts finish it: everybody else is silent.
  void end() {
    REQUIRE(bench_.recorded.apply(StragglerEvent{name_of(Straggler::split)}, bench_.now).ok());
    REQUIRE(bench_.recorded.apply(SizingEvent{"rts"}, bench_.now).ok());
    const std::int64_t total = bench_.setup.items;
    int rounds = 0;
    while (!bench_.stage.complete() &&
           bench_.stage.ledger().accepted().total() + bench_.stage.ledger().set_aside().total() < total) {
      REQUIRE(++rounds < 3000);
      bench_.wait(20);
      const int host = 7 + rounds % 2;
      const Grant grant = bench_.ask(host);
      bench_.tick();
      if (grant.unit) count(bench_.finish(*bench_.stage.unit(*grant.unit)));
      if (!disputed_.empty())
        bench_.recorded.apply(ResolveEvent{disputed_.front(), true}, bench_.now, bench_.changes),
            disputed_.remove(disputed_.front());
    }
    for (const Range range : disputed_.ranges())
      bench_.recorded.apply(ResolveEvent{range, true}, bench_.now, bench_.changes);
    for (const Range range : bench_.stage.ledger().accepted().ranges()) {
      for (std::int64_t item = range.begin; item < range.end; ++item)
        CHECK(times_accepted_[static_cast<std::size_t>(item)] == 1);
    }
    const StageCounts counts = bench_.stage.counts(bench_.now);
    CHECK(counts.accepted + counts.set_aside == total);
    CHECK(counts.cost_wasted >= -1e-9);
    double credited = 0;
    for (const HostRecord* record : bench_.stage.hosts())
      credited += static_cast<double>(record->items_accepted);
    CHECK(credited >= static_cast<double>(counts.accepted));
  }

  Random random_;
  StageBench bench_;
  int hosts_;
  std::vector<UnitId> units_;
  RangeSet disputed_;
  std::vector<int> times_accepted_;
};

}  // namespace

TEST_CASE("a stage holds its invariants over random histories") {
  for (int run = 0; run < histories; ++run) {
    INFO("seed " << run);
    Chaos(static_cast<std::uint64_t>(run)).run();
  }
}
