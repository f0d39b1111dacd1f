// `problem append`: the manager plans the stage again, in the directory of a draft, with the inputs that the
// problem has and those that are new; then the writer makes the stage longer.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/service/core/lost_blobs.h"
#include "server/service/operator/describe.h"
#include "server/service/operator/problems.h"
#include "server/service/operator/reopening.h"
#include "server/service/work/failures.h"
#include "server/service/work/life_cycle.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

using Info = Result<protocol::ProblemInfo>;
using Inputs = std::vector<protocol::Input>;

constexpr const char* table_name = "table.csv";

const protocol::Input* input_called(const Inputs& inputs, const std::string& name) {
  const auto found =
      std::find_if(inputs.begin(), inputs.end(), [&](const auto& input) { return input.name == name; });
  return found == inputs.end() ? nullptr : &*found;
}

// What the problem has, and after it what is new: further rows under the name of a table that continues it.
Result<Inputs> with_more(Inputs inputs, const Inputs& more) {
  for (protocol::Input input : more) {
    if (input.name == table_name)
      for (int number = 1; input_called(inputs, input.name) != nullptr; ++number)
        input.name = fmt::format("{}.{}", table_name, number);
    const protocol::Input* known = input_called(inputs, input.name);
    if (known != nullptr && known->digest == input.digest) continue;
    if (known != nullptr)
      return Error{ErrorKind::conflict,
                   "the problem has another input " + input.name +
                       " already: give the new file another name, and name it so in the rows"};
    inputs.push_back(std::move(input));
  }
  if (std::cmp_greater(inputs.size(), limits::inputs_max))
    return Error{ErrorKind::conflict, fmt::format("a problem has at most {} inputs", limits::inputs_max)};
  return inputs;
}

Status take_longer(Transaction& tx, ProblemId id, const Inputs& inputs, const PlannedStage& planned,
                   Info& info) {
  Error why{ErrorKind::internal, ""};
  Problem* problem = reopenable(tx, id, why);
  if (problem == nullptr) {
    info = why;
    return {};
  }
  const Inputs& before = problem->row.inputs;
  const bool same =
      before.size() <= inputs.size() && std::equal(before.begin(), before.end(), inputs.begin());
  if (!same || problem->row.stage != 0) {
    info = refusal_of(*problem, "has changed meanwhile: try again");
    return {};
  }
  if (planned.end || planned.row.items <= problem->stage_row.items) {
    info = refusal_of(*problem, "has no more items with these inputs");
    return {};
  }
  TRY(extend_stage(tx, *problem, inputs, planned.row));
  info = describe(*problem, tx.now);
  return {};
}

}  // namespace

void Problems::append(ProblemId id, protocol::AppendInputs request, Done<protocol::ProblemInfo> done) {
  kernel_.on_blob_pool([this, id, more = std::move(request.inputs), done = std::move(done)]() mutable {
    if (const Status checked = check_inputs(more); !checked.ok()) return done(checked.error());
    append_checked(id, more, std::move(done));
  });
}

void Problems::append_checked(ProblemId id, const Inputs& more, Done<protocol::ProblemInfo> done) {
  kernel_.decide<Draft>(
      [id, more](Transaction& tx, Result<Draft>& draft) -> Status {
        Error why{ErrorKind::internal, ""};
        const Problem* problem = reopenable(tx, id, why);
        if (problem == nullptr) {
          draft = why;
          return {};
        }
        if (problem->row.stage != 0) {
          draft = refusal_of(*problem, "is past its first stage: only that can become longer");
          return {};
        }
        auto inputs = with_more(problem->row.inputs, more);
        if (!inputs.ok()) {
          draft = inputs.error();
          return {};
        }
        Problem longer;
        longer.row = problem->row;
        longer.row.inputs = *std::move(inputs);
        TRY_ASSIGN(longer.row.id, next_number(tx));
        tx.model.underway.drafts[longer.row.id] = "";  // a name that no problem has
        tx.model.underway.previews.insert(id);
        draft = Draft{longer.row, manager_setup(tx.model, longer)};
        return {};
      },
      [this, id, done = std::move(done)](const Result<Draft>& draft) {
        if (!draft.ok()) return done(draft.error());
        kernel_.on_blob_pool([this, id, draft = *draft, done] { extend(id, draft, done); });
      });
}

Result<PlannedStage> Problems::plan_longer(const Draft& draft) {
  TRY_ASSIGN(auto planned, plan(draft));
  bool appends = false;
  TRY(kernel_.managers().with(draft.manager, [&](contract::ManagerSession& session) -> Status {
    TRY_ASSIGN(appends, session.appends());
    return {};
  }));
  if (appends) return planned;
  return Error{ErrorKind::conflict, "the application does not take more rows once a problem has begun"};
}

void Problems::extend(ProblemId id, const Draft& draft, const Done<protocol::ProblemInfo>& done) {
  const Done<protocol::ProblemInfo> end = {[this, id, draft, done](Info info) {
                                             forget(draft);
                                             kernel_.writer().submit_surely([id](Transaction& tx) {
                                               tx.model.underway.previews.erase(id);
                                               return advance(tx,
                                                              id);  // its last items may have come meanwhile
                                             });
                                             done(std::move(info));
                                           },
                                           done.actor()};
  const auto planned = std::make_shared<const Result<PlannedStage>>(plan_longer(draft));
  if (!planned->ok()) return end(planned->error());
  kernel_.decide<protocol::ProblemInfo>(
      [id, draft, planned](Transaction& tx, Info& info) {
        return take_longer(tx, id, draft.row.inputs, **planned, info);
      },
      end);
}

}  // namespace gleaner::service
