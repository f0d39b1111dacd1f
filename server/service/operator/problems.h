// Problems, as an administrator adds, changes and deletes them. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "server/service/core/kernel.h"
#include "server/service/work/life_cycle.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::service {

// What may be named as a strategy of a problem or as its rule for stragglers.
[[nodiscard]] std::vector<protocol::StrategyInfo> strategies();

// Whether a problem may have them; invalid: what is expected.
[[nodiscard]] Status check_share(double weight, int priority);

// After all that are or are being planned.
[[nodiscard]] Result<ProblemId> next_number(Transaction& tx);

class Problems {
 public:
  explicit Problems(Kernel& kernel) : kernel_(kernel) {}

  // Its manager plans it first: what the manager refuses was never a problem, and its author hears why.
  void add(protocol::AddProblem request, Done<protocol::ProblemInfo> done);
  // What adding it would come to (estimate.cpp). The manager plans it as for add(); nothing of it stays.
  void estimate(protocol::AddProblem request, Done<protocol::ProblemEstimate> done);
  void list(Done<std::vector<protocol::ProblemInfo>> done);
  // With the shares of the hosts that did most, a thousand; or of as many as an answer may have.
  enum class Shares { most, all };
  enum class Content { left_out, told };  // its parameters and inputs
  void show(ProblemId id, Done<protocol::ProblemInfo> done, Shares shares = Shares::most,
            Content content = Content::left_out);
  enum class Action { pause, resume, cancel, retry };  // retry: failures.h
  void change(ProblemId id, Action action, Done<protocol::ProblemInfo> done);
  // Items whose results say that they failed are computed again, of a finished problem, too, which then runs
  // until its results are made again. conflict: there are none, or its manager does not tell
  // (retry_failed.cpp).
  void retry_failed(ProblemId id, Done<protocol::ProblemInfo> done);
  // Its stage becomes longer: the manager plans it again with these inputs, too. A finished problem runs
  // again. conflict: its application does not take more, or it cannot now (append.cpp).
  void append(ProblemId id, protocol::AppendInputs request, Done<protocol::ProblemInfo> done);
  void change_strategy(ProblemId id, protocol::ChangeStrategy request, Done<protocol::ProblemInfo> done);
  void change_application(ProblemId id, protocol::ChangeApplication request,
                          Done<protocol::ProblemInfo> done);
  // With its files; waits until its manager is done with them.
  void remove(ProblemId id, StatusDone done, std::optional<Actor> actor = {});
  // Deletes what has been over for longer than the settings keep it (store.keep_ended_days). An act each.
  // At a relay: that of which nothing is here any more (origin.h).
  void remove_old();
  // The last output of a kernel that computes the problem, on this host or (0) on any. The host sends it
  // while this is called every few seconds. conflict: no kernel computes it there (kernel_output.cpp).
  void output(ProblemId id, HostId host, Done<protocol::KernelOutput> done);
  // The last `count` decisions about its units, newest first.
  void decisions(ProblemId id, int count, Done<std::vector<protocol::DecisionInfo>> done);

 private:
  struct Draft {
    storage::ProblemRow row;
    ManagerSetup manager;
  };
  [[nodiscard]] Status check_inputs(std::vector<protocol::Input>& inputs);
  void append_checked(ProblemId id, const std::vector<protocol::Input>& more,
                      Done<protocol::ProblemInfo> done);
  // Reserves its number and name; `next` is told on the pool.
  void draft(protocol::AddProblem request, std::function<void(Result<Draft>)> next);
  void draft_checked(protocol::AddProblem request, std::function<void(Result<Draft>)> next);
  // append.cpp
  [[nodiscard]] Result<PlannedStage> plan_longer(const Draft& draft);
  void extend(ProblemId id, const Draft& draft, const Done<protocol::ProblemInfo>& done);
  // On the pool. Errors: the manager's; the draft is forgotten then.
  [[nodiscard]] Result<PlannedStage> plan(const Draft& draft);
  void keep(const Draft& draft, PlannedStage stage, const Done<protocol::ProblemInfo>& done);
  void forget(const Draft& draft);

  Kernel& kernel_;
};

}  // namespace gleaner::service
