// Loads and results of whole subtrees, as EAS and SOS send them.
#include <algorithm>

#include "shared/base/check.h"
#include "shared/planning/replay.h"

namespace gleaner::planning {

const char* name_of(Activity activity) {
  switch (activity) {
    case Activity::receive:
      return "receive";
    case Activity::compute:
      return "compute";
    case Activity::report:
      return "report";
  }
  return "unknown";
}

Replay replay_whole(const LoadTree& tree, const LoadCost& cost, const std::vector<double>& shares) {
  const std::vector<double> loads = subtree_loads(tree, shares);
  const std::size_t count = tree.size();
  std::vector<double> arrival(count, 0), sent(count, 0), receive_begin(count, 0);
  for (std::size_t i = 0; i < count; ++i) {  // parents come before their children
    double sending = arrival[i];
    for (const std::size_t child : tree[i].children) {
      receive_begin[child] = sending;
      sending += loads[child] * tree[child].z * cost.tcm;
      arrival[child] = sending;
    }
    sent[i] = sending;
  }
  Replay replay;
  std::vector<double> ready(count, 0), report_begin(count, 0), report_end(count, 0);
  replay.finishes.assign(count, 0);
  for (std::size_t i = count; i-- > 0;) {  // children come before their parents
    double end = 0, free = cost.duplex == Duplex::half ? sent[i] : 0;
    for (const std::size_t child : tree[i].children) {
      report_begin[child] = std::max(ready[child], free);
      report_end[child] = report_begin[child] + loads[child] * tree[child].z * cost.tsol;
      free = end = report_end[child];
    }
    replay.finishes[i] = arrival[i] + shares[i] * tree[i].w * cost.tcp;
    ready[i] = std::max(replay.finishes[i], end);
  }
  replay.finish = ready[0];
  for (std::size_t i = 0; i < count; ++i) {
    if (arrival[i] > receive_begin[i])
      replay.spans.push_back({i, Activity::receive, receive_begin[i], arrival[i]});
    if (replay.finishes[i] > arrival[i])
      replay.spans.push_back({i, Activity::compute, arrival[i], replay.finishes[i]});
    if (report_end[i] > report_begin[i])
      replay.spans.push_back({i, Activity::report, report_begin[i], report_end[i]});
  }
  return replay;
}

}  // namespace gleaner::planning
