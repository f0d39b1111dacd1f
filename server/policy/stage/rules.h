// The numbers of Gleaner's policy, all of them, each with its reason; what each rule is worth was measured
// and stands in server/policy/POLICY.md. Seconds unless said otherwise. Value types.
#pragma once

namespace gleaner::policy {

// What a project or a scenario may set.
struct EndgameRules {
  // R1 Rate
  double rate_memory = 900;  // a measurement of so much on-time replaces 63 % of what was known
  // R2 Size
  double guided_fraction = 0.7;  // of the time that remains that a unit lasts, and what is re-covered at once
  double unit_minimum = 60;      // shorter units cost more handling than they save waiting
  double unit_maximum = 1200;    // longer ones are lost whole with hosts that leave before their first commit
  // R3 Long items first
  double fit = 0.35;             // the longest item for a host, of the time in which all would end
  bool long_items_first = true;  // false: plain order
  bool settle = true;            // who asks in the first minute does not yet tell how long all will take
  // R4 Heartbeat
  double heartbeat = 60;
  double heartbeat_endgame = 15;  // nothing is free: late news is late help
  double park = 10;               // until an idle slot that got nothing asks again
  // R5 Stalled
  double stall_silence = 90;          // a heartbeat and a half
  double stall_silence_endgame = 35;  // the same where heartbeats are those of the endgame
  double stall_rate = 0.02;           // of the host's own rate: it stands still
  double lease = 86400;               // a silent host that returns just resumes; garbage collection only
  // R6 Splits and copies
  double request_delay = 2;   // from a decision until the kernel computes
  double look_ahead = 5;      // beyond the next heartbeat: where the holder will be when it hears of a cut
  double gain_minimum = 5;    // a help that gains less is not worth its handling
  int look_at = 30;           // units that end last
  int live_copies = 3;        // of one item, and
  int flood_copies = 6;       // when most slots are idle
  double copy_budget = 0.10;  // of the stage's cost
  // What is learned of items (R6, R8)
  bool learn_costs = true;       // items that prove longer than their hint
  bool see_progress = true;      // what is done of an item tells what it costs
  bool move_checkpoints = true;  // what a host saved of an item, another one goes on from
  // R8 Early copies
  bool copy_long = true;
  bool fast_copies = true;  // they are for fast hosts, and slow ones do not keep them out
  // The filter
  bool save_energy = true;  // of idle slots that would end as soon, the one that draws least
  // Comparison rules
  double lease_factor = 0;     // a unit is late after so many times its estimate; 0: the rule's own, or never
  double lease_minimum = 600;  // but no sooner than this
  // Trust
  int failures_set_aside = 3;  // an item that failed on so many hosts is set aside
  int opinions_max = 5;        // hosts asked about a disputed item before it is set aside
};

// The same numbers shortened for a stage that is expected to last `seconds` at the present rates. Never
// longer than the rules say; heartbeats never below 1 s.
[[nodiscard]] EndgameRules paced(const EndgameRules& rules, double seconds);

// What nobody has had a reason to set.
namespace numbers {

// R1: until a host is measured its benchmark counts so much, which favours the known; a measurement this far
// above what the benchmark promises is a mistake or a lie; one takes so many shortest units of on-time, the
// first less.
inline constexpr double benchmark_discount = 0.85, believable = 16;
inline constexpr double first_measured = 1.0 / 60, next_measured = 0.5;
// R3: the longest item is noticed when it takes this part of the time that remains; who would need so much
// longer than all together waits for faster ones, unless it is this much faster than the mean.
inline constexpr double long_share = 0.01, park_factor = 1.5, fast_factor = 1.2;
// R6: whoever would take so much of a stalled rest takes all of it.
inline constexpr double take_all_share = 0.7;
// R6, R8: a copy has to end this much sooner; beyond the budget it has to halve the wait; it is due when it
// takes half of the time that all the rest takes; it may end so many shortest gains later, as an insurance.
inline constexpr double sooner_share = 0.8, exempt_share = 0.5, in_time_share = 0.5, insurance_gains = 2;
// R6: a copy on a host half as fast does not keep a fast one out; flooding begins when so many slots are idle
// for each open unit, and then a copy may end so much later.
inline constexpr double much_faster = 2, idle_per_unit = 3, flood_factor = 2;
// The longer an item has taken, the longer it is expected to go on, by this much of what it took; its hint is
// believed up to so much of it.
inline constexpr double expected_more = 0.5, hint_share_believed = 0.9;
// An item is worth remembering from so many hints on; told to be so many hints long, one after the other,
// items tell of a slow host; what is done of one counts after this part of the shortest unit.
inline constexpr double overlong_factor = 2, slow_factor = 10, share_after = 1.0 / 6;
// R5: standing still, where no rate is reported: so many hints, or so many times what is proven.
inline constexpr double still_factor = 50, doubt_factor = 4;
// The filter: worth waiting for at so much of what the slot that asks would draw; so long where no rate is
// known.
inline constexpr double clearly_less = 0.9, first_patience = 10;
// Slots in a row that found nothing before those that are no faster stop searching.
inline constexpr int failed_searches_max = 20;

}  // namespace numbers
}  // namespace gleaner::policy
