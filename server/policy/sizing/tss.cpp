// TSS, trapezoid self-scheduling: sizes fall in a straight line from f to l. T. H. Tzen, L. M. Ni, "Trapezoid
// self-scheduling: a practical scheduling scheme for parallel compilers", IEEE Trans. Parallel and
// Distributed Systems 4(1), 1993: f = ceil(N/2p), l = 1, n = ceil(2N/(f+l)) units, the k-th (from 0) has
// floor(f - k (f-l)/(n-1)) items.
//
// N is what was free when the strategy began. Units that the grid's limits cut bring the count ahead of the
// items: where the line ends with items left, a new one begins over those.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

struct TssSettings {
  std::int64_t first = 0;  // 0: ceil(N/2p)
  std::int64_t last = 1;
};

class Trapezoid final : public PublishedRule {
 public:
  Trapezoid(SizingMode mode, const TssSettings& settings)
      : PublishedRule(mode, text_of(settings)), settings_(settings) {}

 private:
  static std::string text_of(const TssSettings& settings) {
    const std::string first = settings.first > 0 ? fmt::format(",f={}", settings.first) : std::string();
    return fmt::format("tss{},l={}", first, settings.last);
  }

  [[nodiscard]] Size published(const SizingView& view) const override {
    StageMemory memory = view.memory;
    if (memory.base <= 0) memory = {0, view.free, 0};
    const bool limited = mode() == SizingMode::grid && std::isfinite(view.limits.target_seconds);
    if (limited && memory.units >= units(view, memory.base)) memory = {0, view.free, 0};
    const std::int64_t first = first_of(view, memory.base);
    const std::int64_t count = units(view, memory.base);
    std::int64_t items = settings_.last;
    // Whole numbers throughout: k (f-l)/(n-1) may be whole, and a floor must not take one less then. The
    // product is below 2N.
    if (memory.units == 0) {
      items = first;
    } else if (memory.units < count) {
      items = first - divided_up(memory.units * (first - settings_.last), count - 1);
    }
    Size size = size_of(view, std::max(items, settings_.last),
                        because(view, "tss: unit {} of {} on the line from {} to {}", memory.units + 1, count,
                                first, settings_.last));
    ++memory.units;
    size.memory = memory;
    return size;
  }

  [[nodiscard]] std::int64_t first_of(const SizingView& view, std::int64_t base) const {
    const std::int64_t first = settings_.first > 0 ? settings_.first : divided_up(base, 2 * workers_of(view));
    return std::max(first, settings_.last);
  }
  [[nodiscard]] std::int64_t units(const SizingView& view, std::int64_t base) const {
    return divided_up(2 * base, first_of(view, base) + settings_.last);
  }

  TssSettings settings_;
};

}  // namespace

SizingEntry tss_entry() {
  return {{"tss",
           "sizes that fall in a straight line",
           "Tzen and Ni 1993",
           {"f=ITEMS  the first size, default half an even share", "l=ITEMS  the last, default 1"}},
          [](SizingOptions& options, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            TssSettings settings;
            TRY_ASSIGN(const std::int64_t first, whole_option(options, "f", 1));
            if (options.has("f")) settings.first = first;
            TRY_ASSIGN(settings.last, whole_option(options, "l", 1));
            if (settings.first > 0 && settings.first < settings.last) {
              return Error{ErrorKind::invalid,
                           fmt::format("strategy 'tss': the first size f={} must not be below the last l={}",
                                       settings.first, settings.last)};
            }
            return std::unique_ptr<SizingStrategy>(std::make_unique<Trapezoid>(mode, settings));
          }};
}

}  // namespace gleaner::policy
