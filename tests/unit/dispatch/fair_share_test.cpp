// Fair by time used: over any ten minutes each problem has its share of the slots' time, whatever its units
// take, and nobody is asked how long they will.
#include "server/policy/dispatch/fair_share.h"

#include <cmath>
#include <queue>

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr double window = 600;

struct Load {
  double weight = 1;
  int priority = 0;
  std::function<double(Random&)> unit_seconds;
  double from = 0, until = 1e9;                             // it has work in between
  std::function<bool(int)> can = [](int) { return true; };  // that slot compute it
};

std::function<double(Random&)> always(double seconds) {
  return [seconds](Random&) { return seconds; };
}

// Slots that ask as soon as their unit ends, or shortly before (prefetch).
class Fleet {
 public:
  Fleet(int slots, std::vector<Load> loads, std::uint64_t seed, bool prefetch = false)
      : loads_(std::move(loads)), random_(seed), prefetch_(prefetch), slots_(slots) {
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      events_.push({loads_[i].from, -1, i});
      if (loads_[i].until < 1e9) events_.push({loads_[i].until, -1, i});
    }
    for (int slot = 0; slot < slots; ++slot) events_.push({0.001 * slot, slot, 0});
  }

  void run(double until) {
    while (!events_.empty() && events_.top().at <= until) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      fair_.settle([this](ProblemId, UnitId id) { return &units_.at(id); }, stamp(now_));
      if (event.slot < 0) {
        come_or_go(event.load);
      } else {
        turn(event.slot);
      }
    }
    now_ = until;
  }

  // Slot-seconds of each problem in [from, from + window], as slots really spent them.
  [[nodiscard]] std::vector<double> spent(double from) const {
    std::vector<double> sum(loads_.size());
    for (const auto& [load, begin, end] : spans_)
      sum[load] += std::max(0.0, std::min(end, from + window) - std::max(begin, from));
    return sum;
  }
  [[nodiscard]] double charged(std::size_t load) const {
    return fair_.slot_seconds(id_of(load), stamp(now_));
  }
  FairShare& fair() { return fair_; }
  static ProblemId id_of(std::size_t load) { return {static_cast<std::int64_t>(load) + 1}; }
  static Timestamp stamp(double at) { return Timestamp{std::chrono::hours{500000}} + from_seconds(at); }

 private:
  struct Event {
    double at;
    int slot;  // -1: a problem comes or goes
    std::size_t load;
    bool operator<(const Event& other) const { return at > other.at; }
  };
  struct Holding {
    UnitId unit;
    std::size_t load = 0;
    double seconds = 0;
  };

  void come_or_go(std::size_t load) {
    if (now_ >= loads_[load].until) return fair_.withdraw(id_of(load));
    fair_.enter(id_of(load), {loads_[load].weight, loads_[load].priority}, stamp(now_));
  }

  std::optional<Holding> ask(int slot, bool urgent) {
    std::vector<ProblemId> candidates;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (loads_[i].from <= now_ && now_ < loads_[i].until && loads_[i].can(slot))
        candidates.push_back(id_of(i));
    }
    const auto order = fair_.order(candidates, {slot + 1}, 0, stamp(now_));
    if (order.empty()) return std::nullopt;
    const auto load = static_cast<std::size_t>(order.front().value - 1);
    Unit unit;
    unit.id = UnitId{++last_};
    unit.host = {slot + 1};
    unit.issued = unit.last_contact = stamp(now_);
    unit.run_state = protocol::RunState::running;
    units_[unit.id] = unit;
    fair_.took(id_of(load), unit, urgent, stamp(now_));
    return Holding{unit.id, load, loads_[load].unit_seconds(random_)};
  }

  // A unit ends: its successor is here, or is asked for.
  void turn(int slot) {
    auto& holding = holding_[slot];
    if (holding) {
      Unit& unit = units_.at(holding->unit);
      unit.state = UnitState::done;
      unit.last_contact = stamp(now_);
      fair_.closed(id_of(holding->load), unit, stamp(now_));
      holding.reset();
    }
    holding = next_[slot] ? std::exchange(next_[slot], std::nullopt) : ask(slot, true);
    if (!holding) return events_.push({now_ + 1, slot, 0});
    spans_.push_back({holding->load, now_, now_ + holding->seconds});
    if (prefetch_) next_[slot] = ask(slot, false);
    // Heard of now and then, as long as it runs.
    units_.at(holding->unit).last_contact = stamp(now_ + holding->seconds);
    events_.push({now_ + holding->seconds, slot, 0});
  }

  struct Span {
    std::size_t load;
    double begin, end;
  };
  std::vector<Load> loads_;
  Random random_;
  bool prefetch_;
  int slots_;
  FairShare fair_;
  std::priority_queue<Event> events_;
  std::map<UnitId, Unit> units_;
  std::map<int, std::optional<Holding>> holding_, next_;
  std::vector<Span> spans_;
  std::int64_t last_ = 0;
  double now_ = 0;
};

// The worst relative distance from `shares` of all windows in [from, until].
double worst(const Fleet& fleet, const std::vector<double>& shares, int slots, double from, double until) {
  double most = 0;
  for (double at = from; at + window <= until; at += 60) {
    const auto spent = fleet.spent(at);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double due = shares[i] * slots * window;
      if (due > 0) most = std::max(most, std::abs(spent[i] - due) / due);
    }
  }
  return most;
}

}  // namespace

TEST_CASE("units of milliseconds and of an hour share the slots evenly from the first minutes on") {
  for (const bool prefetch : {false, true}) {
    INFO("prefetch " << prefetch);
    Fleet fleet(8, {{1, 0, always(0.1)}, {1, 0, always(3600)}, {2, 0, always(20)}}, 1, prefetch);
    fleet.run(3 * 3600);
    CHECK(worst(fleet, {0.25, 0.25, 0.5}, 8, 0, 3 * 3600) < 0.05);
    CHECK(fleet.charged(1) == Approx(0.25 * 8 * 3 * 3600).epsilon(0.02));
  }
}

TEST_CASE("units whose length nobody could have told: within 5 % over any ten minutes") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    INFO("seed " << seed);
    // Log-uniform over a factor of 1,000, about a different mean each.
    const auto wild = [](double mean) {
      return [mean](Random& random) { return mean * std::pow(1000, random.uniform() - 0.5); };
    };
    Fleet fleet(40, {{1, 0, wild(0.3)}, {1, 0, wild(3)}, {3, 0, wild(30)}}, seed, seed % 2 == 0);
    fleet.run(2 * 3600);
    CHECK(worst(fleet, {0.2, 0.2, 0.6}, 40, 0, 2 * 3600) < 0.05);
  }
}

TEST_CASE("a problem that only some hosts can compute gets those, and its share of the rest is no debt") {
  Fleet fleet(20,
              {{1, 0, always(10), 0, 1e9, [](int slot) { return slot < 5; }},
               {1, 0, always(7)},
               {1, 0, always(0.5), 5000}},
              1);
  fleet.run(10000);
  CHECK(worst(fleet, {0.25, 0.75, 0}, 20, 0, 5000) < 0.05);
  // The newcomer is level with who was there: it neither waits nor is preferred.
  CHECK(worst(fleet, {0.25, 0.375, 0.375}, 20, 5000, 10000) < 0.05);
}

TEST_CASE("problems come and go: who was alone is not punished, who comes does not catch up") {
  Fleet fleet(12, {{1, 0, always(5)}, {1, 0, always(40), 3000, 6000}, {1, 0, always(2), 3600, 9000}}, 1);
  fleet.run(12000);
  CHECK(worst(fleet, {1, 0, 0}, 12, 0, 3000) < 0.05);
  CHECK(worst(fleet, {1 / 3.0, 1 / 3.0, 1 / 3.0}, 12, 3600, 6000) < 0.05);
  CHECK(worst(fleet, {0.5, 0, 0.5}, 12, 6060, 9000) < 0.05);
  CHECK(worst(fleet, {1, 0, 0}, 12, 9000, 12000) < 0.05);
}

TEST_CASE("few slots take turns: rounding to whole slots favours nobody in the long run") {
  for (const double seconds : {5.0, 300.0}) {
    INFO("units of " << seconds << " s");
    Fleet fleet(3, {{1, 0, always(seconds)}, {1, 0, always(seconds * 1.1)}}, 1);
    fleet.run(100 * 3600);
    CHECK(fleet.charged(0) == Approx(fleet.charged(1)).epsilon(0.02));
    Fleet unequal(4, {{1, 0, always(seconds)}, {2, 0, always(seconds * 1.1)}}, 1);
    unequal.run(100 * 3600);
    CHECK(2 * unequal.charged(0) == Approx(unequal.charged(1)).epsilon(0.03));
  }
}

TEST_CASE("a higher priority goes first, and what it leaves is shared") {
  Fleet fleet(10,
              {{1, 0, always(5)},
               {1, 0, always(9)},
               {0.01, 3, always(4), 2000, 4000, [](int slot) { return slot < 6; }}},
              1);
  fleet.run(6000);
  CHECK(worst(fleet, {0.5, 0.5, 0}, 10, 0, 2000) < 0.05);
  CHECK(worst(fleet, {0.2, 0.2, 0.6}, 10, 2060, 4000) < 0.05);
  CHECK(worst(fleet, {0.5, 0.5, 0}, 10, 4060, 6000) < 0.05);
}

TEST_CASE("weights change while problems run") {
  Fleet fleet(30, {{1, 0, always(5)}, {1, 0, always(60)}}, 1);
  fleet.run(1800);
  fleet.fair().change(ProblemId{1}, {5, 0}, Fleet::stamp(1800));
  fleet.run(4800);
  CHECK(worst(fleet, {0.5, 0.5}, 30, 0, 1800) < 0.05);
  CHECK(worst(fleet, {5 / 6.0, 1 / 6.0}, 30, 1920, 4800) < 0.05);
}

TEST_CASE("time that a host was silent or paused is nobody's") {
  FairShare fair;
  const auto at = Fleet::stamp;
  fair.enter(ProblemId{1}, {}, at(0));
  fair.enter(ProblemId{2}, {}, at(0));
  Unit unit;
  unit.id = UnitId{1};
  unit.host = HostId{1};
  unit.issued = unit.last_contact = at(0);
  unit.run_state = protocol::RunState::running;
  fair.took(ProblemId{1}, unit, true, at(0));
  const auto settle = [&](double now) { fair.settle([&](ProblemId, UnitId) { return &unit; }, at(now)); };
  settle(60);
  CHECK(fair.slot_seconds(ProblemId{1}, at(60)) == Approx(60));
  settle(100);
  unit.last_contact = at(110);
  settle(120);
  settle(300);  // silent: up to where it was heard of
  CHECK(fair.slot_seconds(ProblemId{1}, at(4000)) == Approx(120));
  SECTION("it was cut off and computed on") {
    unit.last_contact = at(4000);
    unit.running_seconds = 1500;
    settle(4000);
    CHECK(fair.slot_seconds(ProblemId{1}, at(4000)) == Approx(1620));
    CHECK(fair.slot_seconds(ProblemId{1}, at(4010)) == Approx(1630));
  }
  SECTION("it was off; then its owner works") {
    unit.last_contact = at(4000);
    settle(4000);
    unit.run_state = protocol::RunState::paused;
    unit.last_contact = at(4020);
    settle(4030);
    CHECK(fair.slot_seconds(ProblemId{1}, at(9000)) == Approx(140));
    unit.last_contact = at(4100);
    unit.run_state = protocol::RunState::running;
    settle(4100);
    unit.last_contact = at(4200);
    unit.state = UnitState::done;
    fair.closed(ProblemId{1}, unit, at(4200));
    CHECK(fair.slot_seconds(ProblemId{1}, at(9000)) == Approx(240));
  }
}

TEST_CASE("a slot with units of two problems is held once") {
  FairShare fair;
  const auto at = Fleet::stamp;
  fair.enter(ProblemId{1}, {}, at(0));
  fair.enter(ProblemId{2}, {}, at(0));
  Unit first, ahead, beside;
  first.id = UnitId{1};
  ahead.id = UnitId{2};
  beside.id = UnitId{3};
  first.host = ahead.host = beside.host = HostId{1};
  beside.slot = 1;
  for (Unit* unit : {&first, &ahead, &beside}) {
    unit->issued = unit->last_contact = at(0);
    unit->run_state = protocol::RunState::running;
  }
  CHECK(fair.slots_held() == 0);
  fair.took(ProblemId{1}, first, true, at(0));
  fair.took(ProblemId{2}, ahead, false, at(10));
  CHECK(fair.slots_held() == 1);
  fair.took(ProblemId{2}, beside, true, at(10));
  CHECK(fair.slots_held() == 2);
  fair.closed(ProblemId{1}, first, at(20));
  CHECK(fair.slots_held() == 2);
  fair.closed(ProblemId{2}, ahead, at(30));
  fair.closed(ProblemId{2}, beside, at(30));
  CHECK(fair.slots_held() == 0);
}

TEST_CASE("ties go to the lower problem, and one alone is asked without further ado") {
  FairShare fair;
  fair.enter(ProblemId{4}, {}, Fleet::stamp(0));
  fair.enter(ProblemId{5}, {}, Fleet::stamp(0));
  const std::vector<ProblemId> both{ProblemId{5}, ProblemId{4}}, one{ProblemId{5}};
  CHECK(fair.order(both, HostId{1}, 0, Fleet::stamp(1)) ==
        std::vector<ProblemId>{ProblemId{4}, ProblemId{5}});
  CHECK(fair.order(one, HostId{1}, 0, Fleet::stamp(1)) == one);
  CHECK(fair.order({}, HostId{1}, 0, Fleet::stamp(1)).empty());
}
