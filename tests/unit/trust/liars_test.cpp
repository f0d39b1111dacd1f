// Reputation, audits and verdicts together against liars, in rounds: every host delivers, audits are computed
// by others, verdicts are taken. Time and sizes do not matter here; gleaner-sim has them in a whole grid.
#include <algorithm>
#include <functional>
#include <map>

#include "server/policy/trust/audits.h"
#include "server/policy/trust/verdict.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr ApplicationId app{1};
const Timestamp start = Timestamp{} + std::chrono::hours{1000};

struct Liar {
  // Of the items it computed so far, is the next one a lie?
  std::function<bool(std::int64_t computed, Random& random)> lies;
};

struct Outcome {
  std::int64_t items = 0, computed = 0, wrong = 0, honest_found_wrong = 0;
  [[nodiscard]] double overhead() const {
    return static_cast<double>(computed) / static_cast<double>(items) - 1;
  }
};

class Rounds {
 public:
  Rounds(int hosts, std::int64_t items, int unit, const std::map<int, Liar>& liars, std::uint64_t seed)
      : hosts_(hosts), unit_(unit), liars_(liars), random_(seed), audits_(app, {}), free_(Range{0, items}) {
    outcome_.items = items;
  }

  Outcome run() {
    while (!finished()) {
      now_ += std::chrono::minutes{5};
      for (int host = 1; host <= hosts_; ++host)
        if (!reputation_.held(HostId{host}, app, now_)) serve(host);
    }
    for (const auto& [item, given] : accepted_) outcome_.wrong += given.answer != 0 ? 1 : 0;
    return outcome_;
  }

 private:
  struct Given {
    int host = 0;
    std::int64_t answer = 0;  // 0: right
  };

  bool finished() {
    if (!free_.empty() || !wanted_.empty()) return false;
    for (const Audit& audit : audits_.closing(reputation_, random_, now_)) want(audit);
    return wanted_.empty();
  }

  void want(const Audit& audit) {
    for (std::int64_t item = audit.range.begin; item < audit.range.end; ++item) wanted_.insert(item);
  }

  std::int64_t compute(int host) {
    ++outcome_.computed;
    const auto liar = liars_.find(host);
    const std::int64_t number = computed_[host]++;
    if (liar == liars_.end() || !liar->second.lies(number, random_)) return 0;
    return ++lies_;  // a lie of its own
  }

  void serve(int host) {
    for (const std::int64_t item : std::vector<std::int64_t>(wanted_.begin(), wanted_.end())) {
      auto& given = opinions_[item];
      if (std::any_of(given.begin(), given.end(), [&](const Given& one) { return one.host == host; }))
        continue;
      given.push_back({host, compute(host)});
      settle(item);
      return;
    }
    if (free_.empty()) return;
    const Range front = free_.front();
    const Range range{front.begin, std::min(front.end, front.begin + unit_)};
    free_.remove(range);
    for (std::int64_t item = range.begin; item < range.end; ++item) {
      accepted_[item] = {host, compute(host)};
      opinions_[item] = {accepted_[item]};
    }
    for (const Audit& audit : audits_.accepted(HostId{host}, range, reputation_, random_, now_)) want(audit);
  }

  void settle(std::int64_t item) {
    const auto given = opinions_[item];
    std::vector<Opinion> opinions;
    for (const Given& one : given)
      opinions.push_back({HostId{one.host}, {}, reputation_.reliability(HostId{one.host}, app, now_)});
    const Verdict verdict =
        judge(opinions, [&](std::size_t i, std::size_t j) { return given[i].answer == given[j].answer; },
              {.opinions_max = 9});
    if (verdict.kind == VerdictKind::need_another) return;
    REQUIRE(verdict.kind != VerdictKind::undecided);
    wanted_.erase(item);
    accepted_[item] = given[verdict.right.front()];
    audits_.verified({item, item + 1});
    for (const std::size_t right : verdict.right)
      reputation_.verified(HostId{given[right].host}, app, 1, now_);
    for (const std::size_t wrong : verdict.wrong) {
      const int host = given[wrong].host;
      outcome_.honest_found_wrong += liars_.contains(host) ? 0 : 1;
      reputation_.found_wrong(HostId{host}, app, now_);
      for (const Range range : audits_.doubtful(HostId{host})) {
        audits_.reopened(range);
        free_.add(range);
        for (std::int64_t again = range.begin; again < range.end; ++again) {
          wanted_.erase(again);
          accepted_.erase(again);
        }
      }
    }
  }

  int hosts_, unit_;
  const std::map<int, Liar>& liars_;
  Random random_;
  Reputation reputation_;
  Audits audits_;
  Timestamp now_ = start;
  RangeSet free_;
  std::set<std::int64_t> wanted_;
  std::map<std::int64_t, Given> accepted_;
  std::map<std::int64_t, std::vector<Given>> opinions_;
  std::map<int, std::int64_t> computed_;
  std::int64_t lies_ = 0;
  Outcome outcome_;
};

Outcome all_seeds(int liars, const Liar& liar, std::int64_t items = 40'000) {
  std::map<int, Liar> of;
  for (int number = 0; number < liars; ++number) of[1 + number * 40 / liars] = liar;
  Outcome sum;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Outcome one = Rounds(40, items, 25, of, seed).run();
    sum.items += one.items;
    sum.computed += one.computed;
    sum.wrong += one.wrong;
    sum.honest_found_wrong += one.honest_found_wrong;
  }
  return sum;
}

}  // namespace

TEST_CASE("where nobody lies audits cost little, and nobody is found wrong") {
  const Outcome outcome = all_seeds(0, {});
  CHECK(outcome.wrong == 0);
  CHECK(outcome.honest_found_wrong == 0);
  CHECK(outcome.overhead() < 0.035);
  CHECK(outcome.overhead() > 0.01);
}

TEST_CASE("who always lies is found with its first delivery") {
  for (const int liars : {4, 12}) {
    const Outcome outcome = all_seeds(liars, {[](std::int64_t, Random&) { return true; }});
    CHECK(outcome.wrong == 0);
    CHECK(outcome.honest_found_wrong == 0);
    CHECK(outcome.overhead() < (liars == 4 ? 0.08 : 0.2));
  }
}

TEST_CASE("who lies every other time is found before its results count") {
  for (const int liars : {4, 12}) {
    const Outcome outcome =
        all_seeds(liars, {[](std::int64_t, Random& random) { return random.chance(0.5); }});
    CHECK(outcome.wrong == 0);
    CHECK(outcome.honest_found_wrong == 0);
    CHECK(outcome.overhead() < (liars == 4 ? 0.08 : 0.2));
  }
}

TEST_CASE("a sleeper that built up trust loses all that is not verified") {
  for (const std::int64_t awake : {300, 700, 900}) {
    const Outcome outcome = all_seeds(4, {[awake](std::int64_t n, Random&) { return n >= awake; }});
    CHECK(outcome.wrong == 0);
    CHECK(outcome.honest_found_wrong == 0);
    CHECK(outcome.overhead() < 0.15);
  }
}
