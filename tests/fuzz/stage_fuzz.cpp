// What hosts tell the scheduler of a stage, in any order: requests, reports, commits of ranges that they do
// not hold, twice or beyond their end, failures, silence, disputes and restarts. Invariants hold after every
// event, and an item is accepted once.
#include <vector>

#include "server/policy/stage/stage.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr std::int64_t items = 24;

class Hosts {
 public:
  explicit Hosts(fuzz::Dice dice) : dice_(dice), setup_(setup(dice_)), stage_(setup_) {}

  void run() {
    while (dice_.more()) {
      step();
      stage_.check_invariants();
      CHECK_TRUE(changes_.units.size() < 10'000);
      changes_ = {};
    }
  }

 private:
  static StageSetup setup(fuzz::Dice& dice) {
    StageSetup setup;
    setup.items = items;
    const char* sizings[] = {"wis", "mis", "rts", "static", "gleaner", "fac2", "ss", "gss"};
    setup.sizing = sizings[dice.below(8)];
    setup.straggler = static_cast<Straggler>(1 + dice.below(8));
    setup.may_split = dice.below(4) > 0;
    if (dice.below(2) == 1)
      for (std::int64_t i = 0; i < items; ++i) setup.costs.push_back(i % 5 == 0 ? 100 : 0.5);
    return setup;
  }

  HostId host() { return HostId{1 + dice_.below(4)}; }
  UnitId unit() { return UnitId{1 + (dice_.below(2) == 0 ? dice_.below(256) % next_unit_ : next_unit_ - 2)}; }
  Range range() {
    const std::int64_t begin = dice_.below(items + 4) - 2;
    return {begin, begin + dice_.below(items + 2) - 1};
  }
  Range inside() {
    const std::int64_t begin = dice_.below(items);
    return {begin, begin + 1 + dice_.below(static_cast<int>(items - begin))};
  }
  double number() {
    const double numbers[] = {0, -1, 0.5, 1, 30, 1e9, 1e300, -1e300};
    return numbers[dice_.below(8)];
  }

  void ask() {
    Requester requester;
    requester.host = host();
    requester.slot = dice_.below(3);
    requester.slots = 1 + dice_.below(4);
    requester.urgent = dice_.below(3) > 0;
    requester.performance = std::max(0.0, number());
    requester.proposed_items = std::max(0.0, number());
    requester.unit = UnitId{next_unit_};
    const Grant grant = stage_.apply(RequestEvent{requester}, now_, changes_);
    if (!grant.unit) return CHECK_TRUE(grant.retry_after > 0 && !grant.reason.empty());
    const Unit* given = stage_.unit(*grant.unit);
    CHECK_TRUE(given != nullptr && given->host == requester.host && !given->range.empty());
    CHECK_TRUE(given->range.begin >= 0 && given->range.end <= items);
    ++next_unit_;
  }

  void report() {
    protocol::UnitReport report;
    report.unit = unit();
    report.finished = dice_.below(items + 4) - 2;
    report.rate = number();
    report.state = static_cast<protocol::RunState>(dice_.below(2));
    report.running_seconds = number();
    report.item_seconds = number();
    report.item_share = number();
    (void)stage_.apply(ReportEvent{host(), report}, now_, changes_);
  }

  void commit() {
    const HostId from = host();
    const UnitId id = unit();
    Range what = range();
    if (const Unit* held = stage_.unit(id); held != nullptr && dice_.below(2) == 0)
      what = {held->committed, held->committed + 1 + dice_.below(8)};
    const RangeSet before = stage_.ledger().accepted();
    const CommitOutcome outcome =
        stage_.apply(CommitEvent{from, id, what, dice_.below(2) == 0}, now_, changes_);
    if (!outcome.refusal.empty() || !outcome.known_unit) {
      CHECK_TRUE(outcome.accepted.empty() && stage_.ledger().accepted().ranges() == before.ranges());
      return;
    }
    for (const Range part : outcome.accepted) CHECK_TRUE(before.within(part).empty());
  }

  void step() {
    switch (dice_.below(12)) {
      case 0:
      case 1:
        return ask();
      case 2:
        return report();
      case 3:
      case 4:
        return commit();
      case 5:
        return stage_.apply(GiveBackEvent{host(), unit(), static_cast<GiveBack>(dice_.below(3)),
                                          dice_.below(items + 4) - 2, "any"},
                            now_, changes_);
      case 6:
        return stage_.apply(HostLeftEvent{host(), "any"}, now_, changes_);
      case 7:
        now_ += std::chrono::seconds{1 << dice_.below(16)};
        return stage_.apply(TickEvent{}, now_, changes_);
      case 8:
        return stage_.apply(DisputeEvent{inside(), {host(), host()}}, now_, changes_);
      case 9:
        return stage_.apply(ResolveEvent{inside(), dice_.below(2) == 0}, now_, changes_);
      case 10:
        return stage_.apply(RejectEvent{inside(), "any"}, now_, changes_);
      default:
        (void)stage_.apply(SaveEvent{host(), unit(), dice_.below(items + 4) - 2, number()}, now_);
    }
  }

  fuzz::Dice dice_;
  StageSetup setup_;
  Stage stage_;
  Changes changes_;
  Timestamp now_{std::chrono::hours{24 * 365 * 56}};
  std::int64_t next_unit_ = 1;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Hosts(fuzz::Dice(fuzz::text_of(data, size))).run();
  return 0;
}
