#include "client/policy/stepped_limit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gleaner::client_policy {

// What differs between temperatures and fans. Margins lie below the maximum: a number, or a part of it.
struct SteppedLimit::Kind {
  struct Margin {
    double fixed, part;
    [[nodiscard]] double below(double maximum) const { return maximum - fixed - part * maximum; }
  };
  const char* name;
  double low, high;  // of sensors that are believed
  Duration frozen_beside_others, frozen_alone;
  double others_lower;       // by so much, for the first of the two
  bool has_to_move;          // a sensor that has said 0 from the first look on does not count
  Margin near, well, again;  // a step down, a step up, and computing again
  int decimals;
  const char *unit, *impossible, *is_near, *is_over, *none;
};

const SteppedLimit::Kind& SteppedLimit::kind(Of what) {
  using namespace std::chrono_literals;
  static constexpr Kind kinds[] = {
      {.name = "heat",
       .low = -30,
       .high = 125,
       .frozen_beside_others = 10min,
       .frozen_alone = 30min,
       .others_lower = 20,
       .has_to_move = false,
       .near = {3, 0},
       .well = {8, 0},
       .again = {5, 0},
       .decimals = 1,
       .unit = "degrees",
       .impossible = "which no processor has",
       .is_near = "it is warm",
       .is_over = "it is too hot",
       .none = "temperature: this computer shows none, so heat neither throttles nor pauses"},
      {.name = "noise",
       .low = 0,
       .high = 40'000,
       .frozen_beside_others = 30min,
       .frozen_alone = 30min,
       .others_lower = -HUGE_VAL,  // fans turn each for themselves
       .has_to_move = true,
       .near = {0, 0.1},
       .well = {0, 0.25},
       .again = {0, 0.2},
       .decimals = 0,
       .unit = "rpm",
       .impossible = "which no fan reaches",
       .is_near = "a fan is fast",
       .is_over = "a fan is too fast",
       .none = "fan speed: this computer shows no fan that turns, so the limit on it neither throttles nor "
               "pauses"}};
  return kinds[static_cast<std::size_t>(what)];
}

const char* SteppedLimit::name() const {
  return kind(of_).name;
}

void SteppedLimit::remember(const std::vector<Reading>& readings, SteadyTime now) {
  std::map<std::string, Seen> seen;
  for (const Reading& one : readings) {
    const auto before = seen_.find(one.sensor);
    const bool same = before != seen_.end() && before->second.value == one.value;
    seen[one.sensor] = same ? before->second : Seen{one.value, now, before != seen_.end()};
  }
  seen_ = std::move(seen);
}

bool SteppedLimit::frozen(const Reading& one, const std::vector<Reading>& all, double maximum,
                          SteadyTime now) const {
  const Kind& kind = SteppedLimit::kind(of_);
  if (one.value < maximum) return false;
  bool alone = true;
  for (const Reading& other : all) {
    if (other.sensor == one.sensor || !(other.value >= kind.low && other.value <= kind.high)) continue;
    alone = false;
    if (other.value > one.value - kind.others_lower) return false;
  }
  return now - seen_.at(one.sensor).since >= (alone ? kind.frozen_alone : kind.frozen_beside_others);
}

std::string SteppedLimit::doubt(const Reading& one, const std::vector<Reading>& all, double maximum,
                                SteadyTime now) const {
  const Kind& kind = SteppedLimit::kind(of_);
  char number[32];
  std::snprintf(number, sizeof number, "%.*f", kind.decimals, one.value);
  const std::string says = one.sensor + " says " + number + " " + kind.unit;
  if (!(one.value >= kind.low && one.value <= kind.high)) return says + ", " + kind.impossible + ": ignored";
  if (kind.has_to_move && one.value == 0 && !seen_.at(one.sensor).moved)
    return says + " so far: it rests, or nothing is connected";
  if (frozen(one, all, maximum, now)) return says + " without any change: ignored";
  return {};
}

void SteppedLimit::step(double highest, double maximum, SteadyTime now) {
  const Kind& kind = SteppedLimit::kind(of_);
  const Duration since = stepped_at_ ? std::chrono::duration_cast<Duration>(now - *stepped_at_) : step_up;
  const bool down = highest >= kind.near.below(maximum) && step_ < steps && since >= step_down;
  const bool up = highest < kind.well.below(maximum) && step_ > 0 && since >= step_up;
  if (!down && !up) return;
  step_ += down ? 1 : -1;
  stepped_at_ = now;
}

void SteppedLimit::tell(Verdict& verdict, double maximum) const {
  const Kind& kind = SteppedLimit::kind(of_);
  const auto whole = [](double number) { return std::to_string(std::lround(number)); };
  const std::string reading =
      ": " + whole(verdict.highest->value) + " " + kind.unit + " (" + verdict.highest->sensor + ")";
  if (verdict.stop)
    verdict.sentence = kind.is_over + reading + "; it computes below " + whole(kind.again.below(maximum));
  else if (verdict.share < 1)
    verdict.sentence = kind.is_near + reading + ": kernels use " + whole(100 * verdict.share) +
                       " % of what they may, and stand still at " + whole(maximum);
}

SteppedLimit::Verdict SteppedLimit::judge(const std::vector<Reading>& readings, double maximum,
                                          SteadyTime now) {
  const Kind& kind = SteppedLimit::kind(of_);
  remember(readings, now);
  Verdict verdict;
  for (const Reading& one : readings) {
    if (std::string why = doubt(one, readings, maximum, now); !why.empty())
      verdict.details.push_back(std::move(why));
    else if (!verdict.highest || one.value > verdict.highest->value)
      verdict.highest = one;
  }
  if (!verdict.highest) {
    stopped_ = false;
    step_ = 0;
    verdict.details.emplace_back(kind.none);
    return verdict;
  }
  const double highest = verdict.highest->value;
  stopped_ = highest >= (stopped_ ? kind.again.below(maximum) : maximum);
  step(highest, maximum, now);
  verdict.stop = stopped_;
  verdict.share = 1 - static_cast<double>(step_) / (steps + 1);
  tell(verdict, maximum);
  return verdict;
}

}  // namespace gleaner::client_policy
