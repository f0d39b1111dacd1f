// Hosts that lie or hoard, in kinds. Value types.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace gleaner::simulator {

struct GridHost;

enum class Cheat : int {
  none,
  random,      // every other item is wrong
  always,      // all of them
  sleeper,     // honest for 300 items, and never again
  pair,        // always wrong, and by twos the same
  conspiracy,  // always wrong, and all of them the same
  sybil,       // always wrong, and found out back at once under a new name
  hoarder,     // asks for all it can get on 64 slots, says that it computes it, and delivers nothing
  boaster,     // a million times as fast as it is, it says
  crawler      // computes at a thirtieth of the speed that it says
};
[[nodiscard]] const char* name_of(Cheat cheat);
[[nodiscard]] Result<Cheat> cheat_from(std::string_view text);
[[nodiscard]] std::span<const Cheat> liars();
[[nodiscard]] std::span<const Cheat> hoarders();  // who take, and lie of themselves only

// Whether, and how, a host's results are wrong.
struct Cheating {
  double lies = 0;         // chance of an item to be wrong
  std::int64_t after = 0;  // so many items are delivered right first
  int party = 0;           // those of one party give the same wrong answers; 0: nobody else gives its own
  bool returns = false;    // found out, it joins again at once
  bool hoards = false;
};

// The answer of a host to an item, if it is the `number`th that it delivers: 0 is right, others are wrong.
[[nodiscard]] std::int64_t answer_of(const Cheating& cheating, HostId host, std::int64_t item,
                                     std::int64_t number, std::uint64_t seed);

// Makes cheats of that kind of these hosts.
void make_cheats(Cheat cheat, const std::vector<GridHost*>& hosts);

}  // namespace gleaner::simulator
