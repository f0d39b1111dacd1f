#include "tools/simulator/cheats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shared/base/random.h"
#include "tools/simulator/simulated_host.h"

namespace gleaner::simulator {
namespace {

constexpr std::array names{"none",       "random", "always",  "sleeper", "pair",
                           "conspiracy", "sybil",  "hoarder", "boaster", "crawler"};
constexpr std::array lying{Cheat::random, Cheat::always,     Cheat::sleeper,
                           Cheat::pair,   Cheat::conspiracy, Cheat::sybil};
constexpr std::array hoarding{Cheat::hoarder, Cheat::boaster, Cheat::crawler};

constexpr double random_lies = 0.5;
constexpr std::int64_t sleeper_items = 300;
constexpr int hoarder_slots = 64;
constexpr double boast = 1e6, crawl = 30;

}  // namespace

const char* name_of(Cheat cheat) {
  return names[static_cast<std::size_t>(cheat)];
}

Result<Cheat> cheat_from(std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<Cheat>(found - names.begin());
  return Error{ErrorKind::invalid, fmt::format("expected one of {}", fmt::join(names, ", "))};
}

std::span<const Cheat> liars() {
  return lying;
}

std::span<const Cheat> hoarders() {
  return hoarding;
}

std::int64_t answer_of(const Cheating& cheating, HostId host, std::int64_t item, std::int64_t number,
                       std::uint64_t seed) {
  if (cheating.lies <= 0 || number < cheating.after) return 0;
  const std::int64_t wrong = cheating.party != 0 ? -cheating.party : host.value;
  if (cheating.lies >= 1) return wrong;
  Random random(seed + static_cast<std::uint64_t>(host.value) * 1'000'000'007 +
                static_cast<std::uint64_t>(item));
  return random.chance(cheating.lies) ? wrong : 0;
}

void make_cheats(Cheat cheat, const std::vector<GridHost*>& hosts) {
  int number = 0;
  for (GridHost* host : hosts) {
    Cheating& cheating = host->cheating;
    if (std::find(lying.begin(), lying.end(), cheat) != lying.end())
      cheating.lies = cheat == Cheat::random ? random_lies : 1;
    if (cheat == Cheat::sleeper) cheating.after = sleeper_items;
    if (cheat == Cheat::pair) cheating.party = 1 + number / 2;
    if (cheat == Cheat::conspiracy) cheating.party = 1;
    cheating.returns = cheat == Cheat::sybil;
    const double said = host->performance > 0 ? host->performance : host->speed;
    if (cheat == Cheat::hoarder) {
      cheating.hoards = true;
      host->slots = host->cores = hoarder_slots;
    }
    if (cheat == Cheat::hoarder || cheat == Cheat::boaster) {
      host->performance = said * boast;
      host->boast = boast;
    }
    if (cheat == Cheat::crawler) {
      host->performance = said;
      host->speed /= crawl;
      host->boast = crawl;
    }
    ++number;
  }
}

}  // namespace gleaner::simulator
