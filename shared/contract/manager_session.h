// One manager process, seen from the server: speaks apps/CONTRACT.md, blocking with a time limit. The process
// is started on first use and again after it failed. Errors: invalid (the manager says the parameters or the
// segment are wrong), unavailable (it crashed, hung or spoke nonsense; text has its last words). Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "shared/io/process.h"

namespace gleaner::contract {

struct PlannedInput {
  std::string name;
  io::Path path;  // absolute
  std::optional<Range> range;
};

struct StagePlan {
  bool end = false;  // there is no such stage
  std::string name;
  std::int64_t items = 0;
  std::vector<PlannedInput> inputs;
  io::Path hints;  // absolute; empty: none
  double ahead =
      0;  // what later stages cost together, in hint units of this one; 0: nothing, or it does not say
};

// One item's cost (1 = typical) and description. Parsed by read_hints().
struct ItemHint {
  double cost = 1;
  std::vector<std::int64_t> parameters;
};
[[nodiscard]] Result<std::vector<ItemHint>> read_hints(const io::Path& path, std::int64_t items);
[[nodiscard]] Result<std::vector<ItemHint>> parse_hints(std::string_view text, std::int64_t items);

// Items [range) are in the segment file `path`, whose first item is `first`.
struct Piece {
  Range range;
  std::int64_t first = 0;
  io::Path path;
};

// `host` computed items [range), each in `seconds`; what nobody knows is negative, or empty.
struct Origin {
  Range range;
  double seconds = -1;
  std::string host;
};

struct CombinedFile {
  std::string name;
  io::Path path;  // absolute
  std::string media_type;
};

enum class Verdict { valid, invalid, enough };
struct Validation {
  Verdict verdict = Verdict::valid;
  std::string reason;
};

class ManagerSession {
 public:
  // `problem`: has parameters.json and inputs/, and what it is asked to combine is listed there. `work`: the
  // manager's own directory. `watch`: see ManagerProcess.
  using Watch = std::function<std::string(const io::Process&)>;
  ManagerSession(io::ProcessRunner& runner, io::ProcessSpec spec, io::Path problem, io::Path work,
                 Duration time_limit, Watch watch = {});
  ~ManagerSession();

  [[nodiscard]] Status check();
  // See ManagerProcess: called about once a second while nothing is asked.
  [[nodiscard]] Status look_at_rest();  // starts it and has it check the parameters
  [[nodiscard]] Result<StagePlan> plan(int stage);
  [[nodiscard]] Result<Validation> validate(int stage, Range range, std::string_view segment);
  // The same for several, in order, each with its own outcome: to a manager that offers `pipeline` they are
  // said one behind the other, before it answers. One that brings it down costs the others nothing.
  struct Segment {
    int stage = 0;
    Range range;
    std::string_view bytes;
  };
  [[nodiscard]] std::vector<Result<Validation>> validate(const std::vector<Segment>& segments);
  // Do the two results of `item` agree? `failure`: the manager's means to tell failed, which counts as a
  // difference.
  struct Agreement {
    bool same = false;
    std::string failure = {};
  };
  [[nodiscard]] Result<Agreement> compare(int stage, std::int64_t item, std::string_view a,
                                          std::string_view b);
  using Progress = std::function<void(double fraction)>;
  // `origins`: in order, for a manager that offers to read them.
  [[nodiscard]] Result<std::vector<CombinedFile>> combine(int stage, const std::vector<Piece>& pieces,
                                                          const std::vector<Origin>& origins,
                                                          const Progress& progress);
  // Within one time limit, whatever progress is shown.
  [[nodiscard]] Result<std::vector<CombinedFile>> preview(int stage, const std::vector<Piece>& pieces,
                                                          const std::vector<Origin>& origins);
  // It takes inputs that continue others: a plan has more items with them then, and the same before.
  [[nodiscard]] Result<bool> appends();
  // Which of the items are results that say that they failed; in order. invalid: the manager does not offer
  // to tell.
  [[nodiscard]] Result<std::vector<Range>> failed(int stage, const std::vector<Piece>& pieces);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::contract
