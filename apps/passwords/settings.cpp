#include "apps/passwords/settings.h"

#include <algorithm>
#include <bit>

#include "apps/passwords/targets.h"
#include "shared/base/limits.h"

namespace gleaner::passwords {
namespace {

// An item should take about a second: small enough to be lost without regret, large enough to cost nothing.
constexpr std::int64_t block_min = 1 << 20;
constexpr std::int64_t block_max = std::int64_t{1} << 27;
constexpr std::int64_t items_wanted = 4096;
constexpr std::int64_t generate_max = 1'000'000;
constexpr std::int64_t seed_max = std::int64_t{1} << 53;

std::int64_t default_block(std::int64_t positions) {
  const auto even = static_cast<std::uint64_t>(positions / items_wanted);
  return std::clamp(static_cast<std::int64_t>(std::bit_ceil(even + 1)), block_min, block_max);
}

void read_keyspace(kit::Parameters& parameters, Settings& settings) {
  const auto alphabet = expand_alphabet(parameters.text("alphabet", 256, "a-z0-9"));
  if (!alphabet.ok()) parameters.mistake("alphabet", alphabet.error().message);
  const std::int64_t shortest = parameters.integer("minimum_length", {0, length_max}, 1);
  const std::int64_t longest = parameters.integer("maximum_length", {0, length_max}, 5);
  if (longest < shortest) parameters.mistake("maximum_length", "must not be below minimum_length");
  if (!alphabet.ok() || longest < shortest) return;
  auto keyspace = Keyspace::create(*alphabet, static_cast<int>(shortest), static_cast<int>(longest));
  if (keyspace.ok()) {
    settings.keyspace = std::move(keyspace).value();
  } else {
    parameters.mistake("maximum_length", keyspace.error().message);
  }
}

void read_positions(kit::Parameters& parameters, Settings& settings) {
  const bool random = parameters.choice("mode", {"enumerate", "random"}, "enumerate") == "random";
  settings.mode = random ? Mode::random : Mode::enumerate;
  std::optional<std::int64_t> no_guesses;
  if (!random) no_guesses = 1;
  settings.positions = parameters.integer("guesses", {1, keyspace_max}, no_guesses);
  settings.seed = static_cast<std::uint64_t>(parameters.integer("seed", {0, seed_max}, 1));
  if (!random) {
    settings.positions = settings.keyspace.size();
    for (const char* key : {"guesses", "seed"}) {
      if (parameters.has(key)) parameters.mistake(key, "is for mode \"random\" only: leave it out");
    }
  }
  settings.block = parameters.integer("item_candidates", {1, block_max}, default_block(settings.positions));
  if (settings.items() > limits::items_max)
    parameters.mistake("item_candidates", "there would be more than 2^53 items: raise it");
}

}  // namespace

std::int64_t Settings::candidate(std::int64_t position) const {
  if (mode == Mode::enumerate) return position;
  // splitmix64 of the position (Steele, Lea and Flood 2014), scaled to the key space.
  std::uint64_t mixed = seed * 0xd1342543de82ef95 + static_cast<std::uint64_t>(position) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>((Wide{mixed} * static_cast<std::uint64_t>(keyspace.size())) >> 64);
}

Result<Settings> read_settings(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  Settings settings;
  const std::string digest = parameters.choice("digest", {"md5", "sha1", "sha256"}, "md5");
  settings.algorithm = digest == "md5"    ? Algorithm::md5
                       : digest == "sha1" ? Algorithm::sha1
                                          : Algorithm::sha256;
  read_keyspace(parameters, settings);
  read_positions(parameters, settings);
  settings.generate = parameters.integer("generate", {0, generate_max}, 0);
  settings.generate_seed = static_cast<std::uint64_t>(parameters.integer("generate_seed", {0, seed_max}, 1));
  settings.reveal = parameters.boolean("reveal", false);
  TRY(parameters.finish());
  return settings;
}

}  // namespace gleaner::passwords
