// Which child a relay serves next, and how many tasks a relay asks its own parent for. Pure decisions on
// views; a simulation and a relay drive the same objects. An object belongs to one relay and one thread.
// Source: C. Banino-Rokkones, O. Beaumont, L. Natvig, "Master-Slave Tasking on Asymmetric Networks", sections
// 5 to 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::planning {

struct ChildView {
  int requests = 0;                  // that stand
  std::uint64_t oldest_request = 0;  // its number among all of this relay: lower is older
  double task_down = 0;              // seconds, as observed last (c_j)
  double result_up = 0;              // the same (c'_j)
  double planned_rate = 0;           // of the linear program (beta_j); only otf looks at it
  std::int64_t bunch = 0;            // tasks a turn (round_robin_period()); only round-robin looks at it
  std::int64_t tasks_given = 0;      // so far
};

// What is known of a link that has carried nothing for `age` seconds: it holds for `lasts` seconds, and has
// drifted to `nominal` in as many more. Who had one bad transfer is tried again.
[[nodiscard]] double aged(double observed, double nominal, double age, double lasts);

struct RelayView {
  double task_down = 0, result_up = 0;  // of the relay's own link, as observed last; 0 for the root
  std::vector<ChildView> children;
};

enum class ServingReason { oldest_request, furthest_behind_plan, next_in_turn, best_link, balances_ports };

struct ServingChoice {
  std::size_t child = 0;
  ServingReason reason = ServingReason::oldest_request;
  [[nodiscard]] std::string text() const;  // a sentence
};

// What of a plan a rule looks at: rates, or bunches as turns.
enum class ServingPlan { none, rates, turns };
inline constexpr double least_planned_rate = 1e-9;  // less is the solver's rounding

class ServingRule {
 public:
  virtual ~ServingRule() = default;
  [[nodiscard]] virtual ServingPlan plan() const { return ServingPlan::none; }
  // The child to send the next task to; nothing if none may have one.
  [[nodiscard]] virtual std::optional<ServingChoice> choose(const RelayView& view) const = 0;
  // The child has been chosen and is sent a task.
  virtual void served(const RelayView&, std::size_t /*child*/) {}
};

struct ServingRuleInfo {
  std::string name, summary, source;
};
// The paper's round-robin pushes its bunches (round_robin_period()); as a rule here it is for relays whose
// children are served only when they ask.
[[nodiscard]] const std::vector<ServingRuleInfo>& serving_rules();
// Errors: invalid for an unknown name.
[[nodiscard]] Result<std::unique_ptr<ServingRule>> make_serving_rule(std::string_view name);

// Flow control (section 6): how many tasks a relay wants to have buffered. It grows while children or CPU
// starve although the relay had as many, and shrinks when results pile up.
class TaskThreshold {
 public:
  // `most`: a cap; 0 for none.
  explicit TaskThreshold(int most = 0) : most_(most) {}
  // After every change: buffered tasks and results; starving: no buffered task, and the CPU idle or a child
  // asking.
  void observe(int tasks, int results, bool starving);
  // After a result has come in.
  void result_buffered(int results);
  // How many more to ask for now; asked: requests that stand and tasks on their way.
  [[nodiscard]] int wanted(int tasks, int results, int asked) const;
  [[nodiscard]] int value() const { return value_; }

 private:
  int most_;
  int value_ = 1;
  bool reached_ = false;  // as many tasks as the threshold since it last grew
};

}  // namespace gleaner::planning
