// The numbers of Gleaner's policy, all of them, each with its reason; what each rule is worth was measured
// and stands in server/policy/POLICY.md. Seconds unless said otherwise. Value types.
#pragma once

namespace gleaner::policy {

// What a project or a scenario may set.
struct EndgameRules {
  // R1 Rate
  double rate_memory = 900;  // a measurement of so much on-time replaces 63 % of what was known
  // R2 Size
  double guided_fraction = 0.7;  // of the time that remains that a unit lasts
  double unit_minimum = 60;      // shorter units cost more handling than they save waiting
  double unit_maximum = 1200;    // longer ones are lost whole with hosts that leave before their first commit
  // R3 Long items first
  double fit = 0.35;  // the longest item for a host, of the time in which all would end
  // R4 Heartbeat
  double heartbeat = 60;
  double heartbeat_endgame = 15;  // nothing is free: late news is late help
  double park = 10;               // until an idle slot that got nothing asks again
  // R5 Stalled
  double heartbeat_late = 25;  // a heartbeat that is so late does not come
  double lease = 86400;        // a silent host that returns just resumes; garbage collection only
  // R7 Splits, R8 Copies
  double request_delay = 2;   // from a decision until the kernel computes
  double gain_minimum = 5;    // a help that gains less is not worth its handling
  int holders_max = 12;       // of one item, stalled ones included
  double copy_budget = 0.10;  // of the stage's cost
  // Comparison rules
  double lease_factor = 0;  // a unit is late after so many times its estimate; 0: the rule's own, or never

  // Who was to report every so many seconds is silent after so many.
  [[nodiscard]] double silence(double every) const { return every + heartbeat_late; }
};

// The same numbers shortened for a stage that is expected to last `seconds` at the present rates. Never
// longer than the rules say; heartbeats never below 1 s.
[[nodiscard]] EndgameRules paced(const EndgameRules& rules, double seconds);

// What nobody has had a reason to set.
namespace numbers {

// R1: until a host is measured its benchmark counts so much, which favours the known; a measurement takes
// this part of a shortest unit of on-time.
inline constexpr double benchmark_discount = 0.85, measured = 1.0 / 60;
// What is so many times off is a mistake or a lie: a rate above what the benchmark promises (R1), items that
// one slot says, one after the other, are so many hints long.
inline constexpr double believable = 10;
// R5: who computes so many times slower than it did, or than an item should take, stands still.
inline constexpr double still_factor = 50;
// R5: who says that it goes on and delivers nothing for so many commit intervals stands still; so does a
// stranger whose item takes so many times what it should besides, and a relay of whose leases nothing comes.
inline constexpr double withheld = 3, overdue = 5;
// R9: open units of a stranger that has delivered nothing, as many as most desktops have cores; of one slot
// of one that has: what it computes, what waits, what is under way to the server.
inline constexpr int newcomer_units = 8, slot_units = 3;
// Clearly less: the time in which a copy has to end, that of a mean host beside one for which copies before
// the end are (R8), what another host draws for whom one waits (energy).
inline constexpr double clearly = 0.8;
// R8: beyond the budget a copy has to halve the wait; while there is other work it is due when it takes half
// of the time that all the rest takes. An item is long if its hint is half of what it takes. The longer it
// has taken, the longer it is expected to go on, by half of what it took.
inline constexpr double half = 0.5;
// Units, slots, items that one request looks at, and requests in a row that found nothing before those that
// are no faster stop searching.
inline constexpr int looked_at = 64;

}  // namespace numbers
}  // namespace gleaner::policy
