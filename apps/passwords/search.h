// One item: a block of guesses, hashed and looked up. Its bytes: how many were tested, then for each hit its
// position, its candidate and its target (8, 8 and 4 bytes little-endian), in order of position.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "apps/kit/cpu_features.h"
#include "apps/kit/kernel.h"
#include "apps/passwords/settings.h"
#include "apps/passwords/targets.h"

namespace gleaner::passwords {

struct Hit {
  std::int64_t position = 0;
  std::int64_t candidate = 0;
  std::uint32_t target = 0;
  friend bool operator==(const Hit&, const Hit&) = default;
};

struct Found {
  std::int64_t tested = 0;
  std::vector<Hit> hits;
};

[[nodiscard]] Bytes encode(const Found& found);
// invalid if the bytes are not of encode()'s form.
[[nodiscard]] Result<Found> decode(std::string_view bytes);

// Not thread-safe: it keeps scratch memory.
class Search {
 public:
  Search(const Settings& settings, const Targets& targets, kit::CpuLevel level);
  // What an abandoned item found is worth nothing.
  [[nodiscard]] Found run(Range positions, kit::ItemContext& context);

 private:
  void run_length(int length, Range positions, Range all, kit::ItemContext& context, Found& found);
  void run_random(Range positions, Range all, kit::ItemContext& context, Found& found);
  void confirm(std::int64_t position, Found& found) const;
  const std::vector<std::uint32_t>& heads_of(int length);

  const Settings& settings_;
  const Targets& targets_;
  Engine engine_;
  int head_length_ = -1;
  std::vector<std::uint32_t> heads_;  // word 0 of every beginning of head_length_ characters
  std::vector<std::uint32_t> passed_;
};

// The kernel's factory.
[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::passwords
