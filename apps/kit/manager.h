// A manager is a small class that knows what the items of a problem mean; manager_main() speaks
// apps/CONTRACT.md around it. The working directory belongs to the problem and is kept between commands; the
// process may be ended and started again between any two of them, so what must last is a file. All calls come
// from one thread. Errors returned (and exceptions) are answered as `error TEXT`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kit/problem.h"
#include "apps/kit/segments.h"
#include "shared/base/result.h"

namespace gleaner::kit {

// One item's cost (1 = typical) and at most limits::item_parameters_max integers that describe it.
struct ItemHint {
  double cost = 1;
  std::vector<std::int64_t> parameters;
};

struct StageInput {
  std::string name;            // the kernel finds it as inputs/NAME
  std::string path;            // relative to the working directory
  std::optional<Range> items;  // only for units that overlap them
};

struct Stage {
  std::int64_t items = 0;
  std::string name;             // shown to people; may be empty
  std::vector<ItemHint> hints;  // one an item, or none at all
  std::vector<StageInput> inputs;
  double ahead =
      0;  // what all later stages cost together, in hint units of this one; 0: none, or nobody knows
};

struct Validation {
  enum class Verdict { valid, invalid, enough } verdict = Verdict::valid;
  std::string reason;  // of invalid
};

// What validate() mostly is: `check` looks at one item after the other, and its first error is why the
// segment is invalid ("NOUN INDEX: why"). So is a segment that reaches beyond the stage's `items`.
[[nodiscard]] Validation check_each(
    SegmentReader& segment, std::int64_t items, const std::string& noun,
    const std::function<Status(std::int64_t item, std::string_view bytes)>& check);

// Where combine and preview put files, and tell of them.
class Output {
 public:
  virtual ~Output() = default;
  // Relative to the working directory: stage-K or preview-K. It exists.
  [[nodiscard]] virtual std::filesystem::path directory() const = 0;
  // 0 to 1; at most a few lines a second leave.
  virtual void progress(double fraction) = 0;
  // A file of directory() that is a result; `name` has no spaces.
  virtual void result(const std::string& name, const std::string& media_type) = 0;
};

class Manager {
 public:
  virtual ~Manager() = default;
  // Words of apps/CONTRACT.md that it offers besides what the loop itself does: origins, failures, appends.
  [[nodiscard]] virtual std::vector<std::string> offers() const { return {}; }
  // A new problem: check its parameters and inputs, and keep what the other calls need.
  [[nodiscard]] virtual Status check(const Problem& problem) = 0;
  // Nothing: there is no such stage.
  [[nodiscard]] virtual Result<std::optional<Stage>> plan(int stage) = 0;
  // Is each item plausible? The framing is checked when this has read all items.
  [[nodiscard]] virtual Result<Validation> validate(int stage, SegmentReader& segment) = 0;
  // Empty text: the two results agree; else how they differ. By default they agree if their bytes do.
  [[nodiscard]] virtual Result<std::string> compare(int stage, std::int64_t item, std::string_view a,
                                                    std::string_view b);
  // All items are in (check with items.require_all()).
  [[nodiscard]] virtual Status combine(int stage, ItemSource& items, Output& output) = 0;
  // From the items in hand. By default an error that says there is no preview.
  [[nodiscard]] virtual Status preview(int stage, ItemSource& items, Output& output);
  // Items whose results say that they failed. By default none; asked of those only that offer `failures`.
  [[nodiscard]] virtual Result<RangeSet> failed(int stage, ItemSource& items);
};

// Serves standard input until `quit` or its end; returns the exit status as kernel_main() does.
int manager_main(Manager& manager);
// The same over any two descriptors, for tests.
int serve_manager(Manager& manager, int input, int output);

}  // namespace gleaner::kit
