// What the classical self-scheduling rules have in common: a published size that grid mode clamps, whole
// numbers, batches, shares by an index of performance. Internal to the module. All functions are pure.
#pragma once

#include <string>
#include <utility>

#include "server/policy/sizing/rules.h"
#include "server/policy/sizing/table.h"

namespace gleaner::policy {

// A strategy that is one published formula: paper mode hands it out, grid mode clamps it.
class PublishedRule : public SizingStrategy {
 public:
  // `text` without the mode: "gss,min=1".
  PublishedRule(SizingMode mode, std::string text) : mode_(mode), text_(std::move(text)) {}

  [[nodiscard]] Size size(const SizingView& view) const final;
  [[nodiscard]] std::string text() const final;
  [[nodiscard]] SizingMode mode() const final { return mode_; }

 protected:
  // The published size with its reason; 0 items: nothing for this worker. Need not look at what is free.
  [[nodiscard]] virtual Size published(const SizingView& view) const = 0;

 private:
  SizingMode mode_;
  std::string text_;
};

// A Size with what the requester's view remembers of it.
[[nodiscard]] Size size_of(const SizingView& view, std::int64_t items, std::string reason);

// Wt, at least 1.
[[nodiscard]] std::int64_t workers_of(const SizingView& view);

// ceil(items / parts); REQUIRES: parts > 0.
[[nodiscard]] std::int64_t divided_up(std::int64_t items, std::int64_t parts);

// Rounded up, but not because of the last bits of a division; in [1, 9e15].
[[nodiscard]] std::int64_t rounded_up(double items);

// The memory after one more unit: of the present batch, or, if that is used up, of a new one of `units`
// units.
[[nodiscard]] StageMemory next_in_batch(const SizingView& view, std::int64_t units);

// What says how fast a worker is before it has computed anything.
enum class PerformanceIndex : int { benchmark = 0, clock = 1, rate = 2 };
[[nodiscard]] Result<PerformanceIndex> performance_index(SizingOptions& options);
[[nodiscard]] const char* name_of(PerformanceIndex index);
inline constexpr const char* performance_index_help =
    "index=benchmark|clock|rate  what tells how fast a host is: its benchmark (default), its clock, or what "
    "was "
    "measured";

// Each worker's index; an unknown one counts as the slowest known. Where nobody's is known the benchmark
// stands for it, and where that is not known either all are alike. Where the view lists nobody but the
// requester, clocks are not compared: the benchmark again.
[[nodiscard]] std::vector<double> performance_weights(const SizingView& view, PerformanceIndex index);

// PF_j: the requester's part of the sum over all workers, in (0, 1].
[[nodiscard]] double performance_part(const SizingView& view, PerformanceIndex index);

// Is everybody listed, or only the requester with totals of all?
[[nodiscard]] bool lists_all(const SizingView& view);

// "min=3": a whole number of at least 1.
[[nodiscard]] Result<std::int64_t> whole_option(SizingOptions& options, std::string_view key,
                                                std::int64_t fallback);

}  // namespace gleaner::policy
